"""Why one request was not read from a cache although another came before it."""
