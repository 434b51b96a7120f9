"""What does not add up in an endpoint's answers. Said beside the results, never hidden in them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from headstart.insight.bench.plan import Sample


@dataclass(frozen=True, slots=True)
class Deviation:
    """A kind of contradiction, how many requests show it, and the first of them."""

    kind: str
    count: int
    example: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.count} requests, for example {self.example}"


def _wrong_length(s: Sample) -> bool:
    return s.prompt_tokens is not None and s.prompt_tokens != s.sent_tokens


def _unseen_hit(s: Sample) -> bool:
    return not s.reusable and bool(s.cached_tokens)


def _too_much_cached(s: Sample) -> bool:
    return bool(s.reusable) and s.cached_tokens is not None and s.cached_tokens > s.reusable


KINDS: tuple[tuple[str, Callable[[Sample], bool]], ...] = (
    ("no usage in the stream (tokens counted by chunks)", lambda s: s.prompt_tokens is None),
    ("prompt_tokens is not the number sent", _wrong_length),
    ("cached_tokens is not reported, so no hit can be proved", lambda s: s.cached_tokens is None),
    ("cached_tokens > 0 for a prompt never seen", _unseen_hit),
    ("cached_tokens exceeds what can have been computed before", _too_much_cached),
    (
        "generated another number of tokens than asked",
        lambda s: s.completion_tokens != s.max_tokens,
    ),
)


def deviations(samples: Iterable[Sample]) -> list[Deviation]:
    """Every kind that occurs."""
    every = list(samples)
    found = []
    for kind, holds in KINDS:
        hits = [s for s in every if holds(s)]
        if hits:
            found.append(Deviation(kind, len(hits), _describe(hits[0])))
    return found


def _describe(s: Sample) -> str:
    return (
        f"{s.scenario} {s.role}: sent {s.sent_tokens} tokens ({s.reusable} reusable), reported"
        f" prompt {s.prompt_tokens}, cached {s.cached_tokens}, generated {s.completion_tokens}"
        f" of {s.max_tokens}"
    )
