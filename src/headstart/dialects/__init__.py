"""Wire formats: vendors' bodies and streams, parsed and rendered without HTTP."""
