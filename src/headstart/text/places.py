"""Where the parts of a conversation end in its rendered prompt."""

from collections.abc import Sequence

MOST_TRIES = 32
"""Words of a template that a short text may be found in before it is taken there."""
HEAD = 64
"""Characters of a text that are looked for before the rest is compared."""
GAP = 4096
"""Characters of a template between two parts, at most, unless it has another order."""
MOST_HIDDEN = 1 << 14
"""Characters of parts that are shown otherwise than they were sent, between two that are found."""
MOST_READ = 8
"""How often the whole prompt is read for parts that aren't where they are expected."""


def ends(prompt: str, parts: Sequence[Sequence[str]]) -> list[int]:
    """For every part, the characters of `prompt` through it.

    A part is the texts that the prompt shows of it, in order. It is sought close behind the part
    before it, or from the beginning where a template has another order; the prompt through it then
    holds both. A part that isn't shown as it was sent ends where the one before it does. Ends never
    fall, and follow from the text through the part alone.

    The work grows with the prompt and with the number of parts, not with their product.
    """
    found = []
    gaps = "", ""
    end = cursor = hidden = 0
    unread = MOST_READ * len(prompt)
    for texts in parts:
        for text in texts:
            shown = text.strip()
            if not shown:
                continue
            size = len(shown)
            at = _behind(prompt, cursor, gaps, shown)
            if at < 0:
                at = find(prompt, shown, cursor, cursor + hidden + GAP + size)
            if at < 0 < unread:
                at = find(prompt, shown, 0)
                unread -= len(prompt) if at < 0 else at
            if at < 0:
                hidden = min(hidden + 2 * size, MOST_HIDDEN)  # Escaped, it is longer.
                continue
            if cursor < at <= cursor + GAP:
                gaps = gaps[1], prompt[cursor:at]
            cursor, hidden = at + size, 0
            end = max(end, cursor)
        found.append(end)
    return found


def _behind(prompt: str, cursor: int, gaps: tuple[str, str], shown: str) -> int:
    """Where `shown` is behind what stood before one of the last two parts; -1 if it isn't.

    A template says the same before all turns of one role, and roles alternate.
    """
    for gap in gaps:
        at = cursor + len(gap)
        if gap and prompt.startswith(gap, cursor) and prompt.startswith(shown, at):
            return at
    return -1


def find(prompt: str, shown: str, begin: int, end: int | None = None) -> int:
    """Where `shown` is first in `prompt[begin:end]`, -1 if nowhere: rather as a whole than as a
    part of a word.

    A message that says "s" isn't the s of `<|im_start|>`.
    """
    first = at = _next(prompt, shown, begin, end)
    for _ in range(MOST_TRIES):
        if at < 0:
            return first
        if not _within_word(prompt, at, at + len(shown)):
            return at
        at = _next(prompt, shown, at + 1, end)
    return first


def _next(prompt: str, shown: str, begin: int, end: int | None) -> int:
    """As `prompt.find`, which reads all of a long text before it begins to look for it."""
    head = shown[:HEAD]
    for _ in range(MOST_TRIES):
        begin = prompt.find(head, begin, end)
        if begin < 0 or prompt.startswith(shown, begin, end):
            return begin
        begin += 1
    return prompt.find(shown, begin, end)


def _within_word(prompt: str, begin: int, end: int) -> bool:
    return _cuts_word(prompt, begin) or _cuts_word(prompt, end)


def _cuts_word(prompt: str, at: int) -> bool:
    return 0 < at < len(prompt) and _is_of_word(prompt[at - 1]) and _is_of_word(prompt[at])


def _is_of_word(character: str) -> bool:
    return character.isalnum() or character == "_"
