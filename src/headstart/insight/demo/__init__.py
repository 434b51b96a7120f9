"""`headstart demo`: made-up traffic through every report, with the commands to type next."""
