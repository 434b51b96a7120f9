"""Ids as Anthropic spells them, made from what is unique to the request."""

MESSAGE = "msg_"
REQUEST = "req_"


def message_id(unique: str) -> str:
    """Of an answer."""
    return f"{MESSAGE}{unique}"


def request_id(unique: str) -> str:
    """Of a request: the `request-id` header has it too."""
    return f"{REQUEST}{unique}"


def request_of(message: str) -> str:
    """The request that the answer `message` belongs to."""
    return request_id(message.removeprefix(MESSAGE))
