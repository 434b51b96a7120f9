"""What every prompt begins with that begins with a given text or given messages, as token ids.

The end of a text is no border between tokens: what follows may melt into its last one. And a
template may write the end of a conversation unlike its middle. So it is tried: the common beginning
of many continuations. Whoever goes on in yet another way shares less, which costs a hit, no more.
"""

from collections.abc import Iterable, Sequence
from string import ascii_lowercase

from headstart.text.chat import Conversation, Message
from headstart.text.codec import Codec
from headstart.text.errors import TemplateError

OTHERS = ("B", "0", " a", "\n", "\n\n", ".", ",", "é", "語", "<", "'s", "_", "-", "  ")
CONTINUATIONS = (*ascii_lowercase, *OTHERS)
"""Of every kind that tokenizers join to what stands before, or don't; a word may go on anyhow."""


def stable_text(codec: Codec, text: str, *, special_tokens: bool = True) -> Sequence[int]:
    """The ids that prompts share which begin with `text`. `special_tokens`: as for a prompt."""
    encode = codec.encode_prompt if special_tokens else codec.encode
    return _common(encode(text + more) for more in ("", *CONTINUATIONS))


def stable_messages(codec: Codec, conversation: Conversation) -> Sequence[int]:
    """The ids that prompts share which begin with these messages. Raises TemplateError.

    Their tools have to be the same.
    """
    prompts, refused = [], None
    for more in ("", *CONTINUATIONS):
        for role in ("user", "assistant"):
            messages = (*conversation.messages, Message(role, more))
            try:
                prompts.append(codec.encode_chat(Conversation(messages, conversation.tools)))
            except TemplateError as error:  # Some templates insist on who speaks when.
                refused = error
    if not prompts and refused is not None:
        raise refused
    return _common(prompts)


def _common(prompts: Iterable[Sequence[int]]) -> Sequence[int]:
    first, *others = prompts
    length = len(first)
    for ids in others:
        pairs = enumerate(zip(first[:length], ids, strict=False))
        shortest = min(length, len(ids))
        length = next((at for at, (one, other) in pairs if one != other), shortest)
    return first[:length]
