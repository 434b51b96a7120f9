"""What a conversation's prompt has in common with the prompts of all that go on from it."""

from array import array
from collections.abc import Sequence

from headstart.text.chat import Conversation, Message, Role
from headstart.text.codec import Codec
from headstart.text.errors import TemplateError

TEXTS = ("a", "\n")
"""As different as the beginning of a text can be."""


def beginning(codec: Codec, asked: Conversation, scope: str) -> "array[int]":
    """The tokens that `asked` begins with, whatever comes behind it. Raises TemplateError.

    Not where its last text ends: tools have more to show than texts, templates write what closes a
    message, and tokenizers may join the last characters with the first of what follows. Behind a
    user another user may speak or the model, behind anything else it is a user.
    """
    first, *others = _continued(codec, asked, scope)
    shared = len(first)
    for other in others:
        shared = min(shared, _alike(first, other))
    return array("I", first[:shared])


def _continued(codec: Codec, asked: Conversation, scope: str) -> list[Sequence[int]]:
    prompts: list[Sequence[int]] = []
    refusals = []
    roles: tuple[Role, ...] = ("user",)
    if asked.messages and asked.messages[-1].role in ("user", "tool"):
        roles = ("user", "assistant")
    for message in (Message(role, text) for role in roles for text in TEXTS):
        try:
            longer = Conversation((*asked.messages, message), asked.tools)
            prompts.append(codec.encode_chat(longer, scope))
        except TemplateError as error:
            refusals.append(error)
    if not prompts:
        raise refusals[0]
    return prompts


def _alike(one: Sequence[int], other: Sequence[int]) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
