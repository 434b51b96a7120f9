"""Which message a place in the rendered prompt belongs to."""

from collections.abc import Sequence

from headstart.text.places import find


def message_at(prompt: str, contents: Sequence[str], place: int) -> int | None:
    """The index of the message that character `place` of the rendered `prompt` lies in.

    `contents`: what each message says, empty where it says nothing.

    A message begins where the one before it ends, so what a template puts before it counts as its
    own. None for what follows the last one, and where a template shows no message as it was sent.
    """
    end = 0
    for index, content in enumerate(contents):
        shown = content.strip()
        begin = find(prompt, shown, end)
        if begin < 0 or not shown:
            continue
        end = begin + len(shown)
        if place < end:
            return index
    return None
