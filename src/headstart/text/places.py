"""Where the parts of a conversation end in its rendered prompt."""

from collections.abc import Iterator, Sequence
from itertools import islice

MOST_TRIES = 32
"""Words of a template that a short text may be found in before it is taken there."""


def ends(prompt: str, parts: Sequence[Sequence[str]]) -> list[int]:
    """For every part, the characters of `prompt` through it.

    A part is the texts that the prompt shows of it, in order. It is sought behind the part before
    it, or from the beginning where a template has another order; the prompt through it then holds
    both. A part that isn't shown as it was sent ends where the one before it does. Ends never fall,
    and follow from the text through the part alone.
    """
    found = []
    end = cursor = 0
    for texts in parts:
        for text in texts:
            shown = text.strip()
            if not shown:
                continue
            at = find(prompt, shown, cursor)
            if at < 0:
                at = find(prompt, shown, 0)
            if at >= 0:
                cursor = at + len(shown)
                end = max(end, cursor)
        found.append(end)
    return found


def find(prompt: str, shown: str, begin: int) -> int:
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
