"""Which message a place in the rendered prompt belongs to."""

from collections.abc import Sequence

from headstart.text.places import find


def message_ends(prompt: str, contents: Sequence[str]) -> list[int | None]:
    """For each message, the characters of the rendered `prompt` through it.

    `contents`: what each message says, empty where it says nothing. None for such a one, and where
    a template shows no message as it was sent.
    """
    end = 0
    ends: list[int | None] = []
    for content in contents:
        shown = content.strip()
        begin = find(prompt, shown, end)
        if begin < 0 or not shown:
            ends.append(None)
            continue
        end = begin + len(shown)
        ends.append(end)
    return ends


def message_at(prompt: str, contents: Sequence[str], place: int) -> int | None:
    """The index of the message that character `place` of the rendered `prompt` lies in.

    A message begins where the one before it ends, so what a template puts before it counts as its
    own. None for what follows the last one.
    """
    ends = enumerate(message_ends(prompt, contents))
    return next((index for index, end in ends if end is not None and place < end), None)
