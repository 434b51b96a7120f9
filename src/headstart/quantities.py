"""Sizes, counts, rates and durations as people write them: the same for every command.

Each function raises `error` with one line; `what` is its first word, such as the option's name.
"""

import re
from collections.abc import Callable

_NUMBER = re.compile(r"([\d._]+(?:[eE][+-]?\d+)?)\s*([A-Za-z%]*)(?:/s)?")
_DECIMAL = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "p": 10**15}
_BINARY = {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40, "pi": 2**50}
LEAST, MOST = 1.0, 1e30
"""Of bytes and operations: what is below or above is a mistake."""
MOST_TOKENS, MOST_SECONDS = 10**12, 1e12
"""More tokens than any memory holds; thirty thousand years."""
_SECONDS = {"": 1, "s": 1, "ms": 1e-3, "m": 60, "min": 60, "h": 3600, "d": 86400}

Error = Callable[[str], Exception]


def parse_bytes(text: str, what: str = "", error: Error = ValueError) -> int:
    """`80GB` is 80e9, as makers of GPUs count, and `80GiB` is 80 × 2³⁰; `/s` may follow."""
    number, unit = _split(text, what, error)
    scale = {**_DECIMAL, **_BINARY}.get(unit.lower().removesuffix("b"))
    size = 0.0 if scale is None else number * scale
    if not LEAST <= size <= MOST:
        raise error(_said(what, text, "is no size: write 80GB, 24GiB or a number of bytes."))
    return round(size)


def parse_tokens(text: str, what: str = "", error: Error = ValueError, *, least: int = 1) -> int:
    """`4000`, `4k`, `1e6` or `2M`; never a part of one."""
    number, unit = _split(text, what, error)
    tokens = number * _DECIMAL.get(unit.lower(), -1)
    if not least <= tokens <= MOST_TOKENS or tokens != int(tokens):
        raise error(_said(what, text, f"is no number of {least} or more: write 4000, 4k or 1e6."))
    return int(tokens)


def parse_rate(text: str, what: str = "", error: Error = ValueError) -> float:
    """`400e12`, `400T` or `400TFLOPS` operations a second."""
    number, unit = _split(text, what, error)
    short = re.sub(r"flops?$|flop/s$", "", unit.lower())
    rate = number * _DECIMAL.get(short, 0)
    if not LEAST <= rate <= MOST:
        raise error(_said(what, text, "is no rate: write 400e12 or 400TFLOPS."))
    return rate


def parse_share(text: str, what: str = "", error: Error = ValueError) -> float | None:
    """0.1 of `10%`; None of what isn't in percent."""
    number, unit = _split(text, what, error)
    return number / 100 if unit == "%" else None


def parse_share_or_bytes(text: str, whole: int, what: str = "", error: Error = ValueError) -> int:
    """`10%` of `whole` bytes, or a size; 0 is fine. Always less than `whole`."""
    share = parse_share(text, what, error)
    if share is not None:
        given = round(whole * share)
    else:
        given = parse_bytes(text, what, error) if _split(text, what, error)[0] else 0
    if given >= whole:
        raise error(f"{what} {text} leaves nothing of the GPU's memory.".strip())
    return given


def parse_seconds(text: str, what: str = "", error: Error = ValueError) -> float:
    """`300`, `5m`, `12h`."""
    number, unit = _split(text, what, error)
    seconds = number * _SECONDS.get(unit.lower(), -1.0)
    if not 0 <= seconds <= MOST_SECONDS:
        raise error(_said(what, text, "is no duration: write 300s, 5m or 12h."))
    return seconds


def _split(text: str, what: str, error: Error) -> tuple[float, str]:
    found = _NUMBER.fullmatch(text.strip())
    try:
        number = float("nan" if found is None else found[1])
    except ValueError:
        number = float("nan")
    if found is None or not number < float("inf"):
        raise error(_said(what, text, "is no number."))
    return number, found[2]


def _said(what: str, text: str, problem: str) -> str:
    return f"{what} '{text}' {problem}".strip()
