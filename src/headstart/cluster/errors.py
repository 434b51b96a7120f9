"""What goes wrong between replicas; importing it needs nothing installed."""


class CannotPublish(Exception):
    """KV events can't be sent as asked. `str()` names the cause and the way out."""
