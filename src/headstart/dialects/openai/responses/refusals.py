"""What stored responses are refused, in OpenAI's words."""

from headstart.dialects.errors import ApiError, invalid


def response_not_found(response_id: str) -> ApiError:
    """None of this tenant's, or no more."""
    return ApiError(404, f"Response with id '{response_id}' not found.")


def previous_not_found(response_id: str) -> ApiError:
    """A response to go on from that isn't there."""
    message = f"Previous response with id '{response_id}' not found."
    return invalid(message, "previous_response_id", "previous_response_not_found")


def item_not_found(item_id: str) -> ApiError:
    """An item that is referred to."""
    message = (
        f"Item with id '{item_id}' not found. Items are not persisted when `store` is set to "
        "false. Try again with `store` set to true, or remove this item from your input."
    )
    return ApiError(404, message, param="input")


def not_streamable() -> ApiError:
    """A stored response is given whole."""
    return invalid(
        "This response cannot be streamed because it was not created with background=true."
    )


def not_cancellable() -> ApiError:
    """Nothing runs without its client here: when the client goes, the response is cancelled."""
    return invalid("Cannot cancel a synchronous response.", "response_id")


def not_compacted() -> ApiError:
    """Compaction needs a model that writes it."""
    message = "Compaction is not supported with this model: shorten the input yourself."
    return invalid(message, "model", "unsupported_model")
