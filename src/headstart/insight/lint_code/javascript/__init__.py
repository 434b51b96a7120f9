"""JavaScript and TypeScript sources. Parsing them takes the extra `code`."""
