"""The five scenarios, a file each: what is asked (`plan`), what it means (`rows`), how it reads."""
