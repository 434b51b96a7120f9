"""`headstart cache`: the KV in a tier's directory, looked at, checked, thinned out, carried on."""
