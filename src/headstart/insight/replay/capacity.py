"""Sizes of caches as people give them: `5%`, `2M` tokens, `40GiB` of KV."""

from dataclasses import dataclass

from headstart.insight.replay.lines import TraceError
from headstart.quantities import parse_bytes, parse_share, parse_tokens


@dataclass(frozen=True, slots=True)
class Capacity:
    """Either a share of the footprint, 0..1 or more, or tokens."""

    share: float | None = None
    tokens: int | None = None

    def blocks(self, block_tokens: int, footprint_tokens: int | None) -> int:
        """Whole blocks; of a share at least one. Raises TraceError for a share of what isn't known,
        and for tokens that are less than a block."""
        if self.tokens is not None:
            if self.tokens < block_tokens:
                raise TraceError(f"room for {self.tokens} tokens is no block of {block_tokens}")
            return self.tokens // block_tokens
        if self.share is None or footprint_tokens is None:
            raise TraceError("a share of the footprint needs the optimum's pass: give tokens")
        return max(1, int(footprint_tokens * self.share + 1e-6) // block_tokens)


def parse_capacity(text: str, token_bytes: int | None) -> Capacity:
    """`token_bytes`: KV of one token, which sizes in bytes need. Raises TraceError."""

    def wrong(_: str) -> TraceError:
        return TraceError(f"'{text}' is no capacity: write 5%, 2M (tokens) or 40GiB")

    share = parse_share(text, error=wrong)
    if share is not None:
        if not share:
            raise wrong(text)
        return Capacity(share=share)
    if not in_bytes(text):
        return Capacity(tokens=parse_tokens(text, error=wrong))
    size = parse_bytes(text, error=wrong)
    if token_bytes is None:
        raise TraceError(f"'{text}' needs --kv-bytes-per-token (headstart plan tells a model's)")
    return Capacity(tokens=size // token_bytes)


def in_bytes(text: str) -> bool:
    """Whether a size is one of KV, not a number of tokens."""
    return text.strip().lower().endswith("b")
