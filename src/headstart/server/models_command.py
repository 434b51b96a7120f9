"""The command line of `headstart models`."""


def models() -> None:
    """List what can be served."""
    from headstart.server.catalog import print_catalog

    print_catalog()
