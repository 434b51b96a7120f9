"""What the command line of a replay says, and what of it would do nothing."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal

from headstart.insight.replay.capacity import in_bytes
from headstart.insight.replay.lines import TraceError
from headstart.insight.replay.source import Reading, Trace


@dataclass(frozen=True, slots=True)
class Given:
    """Options as they are typed; None is not given."""

    traces: Sequence[Path]
    policies: Sequence[str]
    capacities: Sequence[str]
    now: datetime
    index: str = "radix"
    ttl: float | None = None
    reuse: Literal["block", "token"] = "block"
    as_served: bool | None = None
    """None: where token ids are recorded."""
    replicas: int = 1
    route: str | None = None
    """None: by prefix."""
    tiers: dict[str, str] = field(default_factory=dict)
    remote: str | None = None
    kv_token_bytes: int | None = None
    bound: bool = True
    price: str | None = None
    prices: Path | None = None
    lifetime: str | None = None
    as_of: datetime | None = None
    """Whose prices hold; None is now."""
    reading: Reading = field(default_factory=Reading)


def refuse_idle(given: Given) -> None:
    """Raises TraceError for an option that does nothing beside the others."""
    sizes = [*given.capacities, *given.tiers.values(), given.remote or ""]
    _refuse(
        ("--lifetime", given.lifetime, given.price, "without --price VENDOR/MODEL"),
        ("--prices", given.prices, given.price, "without --price VENDOR/MODEL"),
        ("--as-of", given.as_of, given.price, "without --price VENDOR/MODEL"),
        ("--route", given.route, given.replicas > 1, "with one replica: see --replicas"),
        (
            "--kv-bytes-per-token",
            given.kv_token_bytes,
            any(map(in_bytes, sizes)),
            "without a size in bytes, such as --capacity 40GiB",
        ),
    )


def refuse_idle_reading(reading: Reading, trace: Trace) -> None:
    """Raises TraceError for an option that does nothing with this recording."""
    kvt, blocks = trace.format == "kvt", trace.format in ("mooncake", "bailian")
    drawn = "of recordings with a clock or an order of their own"
    _refuse(
        ("--tokenizer", reading.tokenizer, trace.texts, "where no text is recorded"),
        ("--recorded-block", reading.recorded_block, blocks, "unless Mooncake's or Bailian's"),
        ("--span-hours", reading.span_s, kvt, drawn),
        ("--seed", reading.seed, kvt, drawn),
    )


def _refuse(*options: tuple[str, object, object, str]) -> None:
    """Of (name, what was given, whether it does something, when it doesn't)."""
    for name, value, does, when in options:
        if value is not None and not does:
            raise TraceError(f"{name} says nothing {when}")
