"""Which message a place in the rendered prompt belongs to."""

from collections.abc import Iterator, Sequence
from itertools import islice

MOST_TRIES = 32
"""Words of a template between two messages that a short message may be found in."""


def message_at(prompt: str, contents: Sequence[str], place: int) -> int | None:
    """The index of the message that character `place` of the rendered `prompt` lies in.

    `contents`: what each message says, empty where it says nothing.

    A message begins where the one before it ends, so what a template puts before it counts as its
    own. None for what follows the last one, and where a template shows no message as it was sent.
    """
    end = 0
    for index, content in enumerate(contents):
        shown = content.strip()
        begin = _find(prompt, shown, end)
        if begin < 0 or not shown:
            continue
        end = begin + len(shown)
        if place < end:
            return index
    return None


def _find(prompt: str, shown: str, begin: int) -> int:
    """Where `shown` is next, -1 if nowhere: rather as a whole than as a part of a word.

    A message that says "s" isn't the s of `<|im_start|>`.
    """
    places = islice(_places(prompt, shown, begin), MOST_TRIES)
    whole = (at for at in places if not _within_word(prompt, at, at + len(shown)))
    return next(whole, prompt.find(shown, begin))


def _places(prompt: str, shown: str, begin: int) -> Iterator[int]:
    while (begin := prompt.find(shown, begin)) >= 0:
        yield begin
        begin += 1


def _within_word(prompt: str, begin: int, end: int) -> bool:
    return _is_word(prompt[begin - 1 : begin + 1]) or _is_word(prompt[end - 1 : end + 1])


def _is_word(pair: str) -> bool:
    return len(pair) == 2 and pair.replace("_", "a").isalnum()
