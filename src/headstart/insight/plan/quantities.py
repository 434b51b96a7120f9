"""Sizes, rates and durations as people write them. All raise PlanError."""

import re

from headstart.insight.plan.errors import PlanError

_NUMBER = re.compile(r"(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*([A-Za-z%]*)(?:/s)?")
_DECIMAL = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "p": 10**15}
_BINARY = {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
LEAST, MOST = 1.0, 1e30
"""Of bytes and operations: what is below or above is a mistake."""
_SECONDS = {"": 1, "s": 1, "ms": 1e-3, "m": 60, "min": 60, "h": 3600, "d": 86400}


def parse_bytes(text: str, what: str) -> int:
    """`80GB` is 80e9, as makers of GPUs count, and `80GiB` is 80 × 2³⁰; `/s` may follow."""
    number, unit = _split(text, what)
    scale = {**_DECIMAL, **_BINARY}.get(unit.lower().removesuffix("b"))
    size = 0.0 if scale is None else number * scale
    if not LEAST <= size <= MOST:
        raise PlanError(f"{what} '{text}' is no size: write 80GB, 24GiB or a number of bytes.")
    return round(size)


def parse_rate(text: str, what: str) -> float:
    """`400e12`, `400T` or `400TFLOPS` operations a second."""
    number, unit = _split(text, what)
    short = re.sub(r"flops?$|flop/s$", "", unit.lower())
    rate = number * _DECIMAL.get(short, 0)
    if not LEAST <= rate <= MOST:
        raise PlanError(f"{what} '{text}' is no rate: write 400e12 or 400TFLOPS.")
    return rate


def parse_share_or_bytes(text: str, whole: int, what: str) -> int:
    """`10%` of `whole` bytes, or a size; 0 is fine. Always less than `whole`."""
    number, unit = _split(text, what)
    share = number / 100 if unit == "%" else 0.0
    given = round(whole * share) if share or not number else parse_bytes(text, what)
    if given >= whole:
        raise PlanError(f"{what} {text} leaves nothing of the GPU's memory.")
    return given


def parse_seconds(text: str, what: str) -> float:
    """`300`, `5m`, `12h`."""
    number, unit = _split(text, what)
    if unit.lower() not in _SECONDS:
        raise PlanError(f"{what} '{text}' is no duration: write 300s, 5m or 12h.")
    return number * _SECONDS[unit.lower()]


def _split(text: str, what: str) -> tuple[float, str]:
    found = _NUMBER.fullmatch(text.strip())
    if found is None or float(found[1]) in (float("inf"),):
        raise PlanError(f"{what} '{text}' is no number.")
    return float(found[1]), found[2]
