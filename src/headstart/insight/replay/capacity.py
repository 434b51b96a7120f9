"""Sizes of caches as people give them: `5%`, `2M` tokens, `40GiB` of KV."""

import re
from dataclasses import dataclass

from headstart.insight.replay.lines import TraceError

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(%|[kMGT]?|[KMGT]i?B)")
_THOUSANDS = " kMGT"


@dataclass(frozen=True, slots=True)
class Capacity:
    """Either a share of the footprint, 0..1 or more, or tokens."""

    share: float | None = None
    tokens: int | None = None

    def blocks(self, block_tokens: int, footprint_tokens: int | None) -> int:
        """Whole blocks, at least one. Raises TraceError for a share of what isn't known."""
        if self.tokens is not None:
            return max(1, self.tokens // block_tokens)
        if self.share is None or footprint_tokens is None:
            raise TraceError("a share of the footprint needs the optimum's pass: give tokens")
        return max(1, int(footprint_tokens * self.share + 1e-6) // block_tokens)


def parse_capacity(text: str, token_bytes: int | None) -> Capacity:
    """`token_bytes`: KV of one token, which sizes in bytes need. Raises TraceError."""
    found = _SIZE.fullmatch(text.strip())
    if found is None or not float(found[1]):
        raise TraceError(f"'{text}' is no capacity: write 5%, 2M (tokens) or 40GiB")
    number, unit = float(found[1]), found[2]
    if unit == "%":
        return Capacity(share=number / 100)
    if not unit.endswith("B"):
        return Capacity(tokens=int(number * 1000 ** _THOUSANDS.index(unit or " ")))
    if token_bytes is None:
        raise TraceError(f"'{text}' needs --kv-bytes-per-token (headstart plan tells a model's)")
    base = 1024 if "i" in unit else 1000
    return Capacity(tokens=int(number * base ** _THOUSANDS.upper().index(unit[0])) // token_bytes)
