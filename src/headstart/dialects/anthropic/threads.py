"""Threads: conversations that Anthropic's server holds between requests, and this one does not.

They are refused with the details that the SDK acts on: its tool runner asks for a thread first, and
sends whole conversations once it is told that there is none (anthropic 2.10.0,
`lib/threads/_thread_state.py` and `types/thread_unsupported_request_error_details.py`).
"""

from dataclasses import dataclass

from headstart.dialects.anthropic.check import Strict
from headstart.dialects.errors import ApiError


class ThreadCreate(Strict, tag_field="type", tag="create"):
    """Hold this conversation."""


class ThreadContinue(Strict, tag_field="type", tag="continue"):
    """Go on from an answer."""

    previous_message_id: str


Thread = ThreadCreate | ThreadContinue


@dataclass(eq=False)
class ThreadRefused(ApiError):
    """No thread is held here."""

    error_code: str = ""
    """In the error's details."""


def refuse(thread: Thread | None) -> None:
    """Raises ThreadRefused for any."""
    match thread:
        case ThreadCreate():
            message = "thread: not supported here. Send the full conversation without `thread`."
            raise ThreadRefused(
                400, message, param="thread", error_code="thread_unsupported_request"
            )
        case ThreadContinue(previous):
            message = f"thread.previous_message_id: no thread was found for {previous}"
            raise ThreadRefused(404, message, param="thread", error_code="thread_not_found")
