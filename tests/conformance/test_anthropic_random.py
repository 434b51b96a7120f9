"""Random sessions: whatever is marked, edited and waited for, the bill is honest."""

from random import Random
from typing import Any

import pytest
from tests.conformance.anthropic_side import (
    ALIASES,
    OPUS,
    SONNET,
    Side,
    counts,
    marker,
    prose,
    read,
    text,
    text_of,
    tool,
    user,
)
from tests.conformance.conftest import Serve


@pytest.fixture(scope="module")
def cold(serve: Serve) -> Side:
    """A server that keeps nothing."""
    return Side(serve(aliases=ALIASES, prefix_cache=False))


@pytest.fixture(scope="module")
def warm(serve: Serve) -> Side:
    return Side(serve(aliases=ALIASES))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_random_sessions_are_billed_what_was_skipped_and_answered_as_without_a_cache(
    warm: Side, cold: Side, seed: int
) -> None:
    random = Random(seed)
    engine = warm.served.live.engine
    hits = 0
    for _ in range(16):
        messages, fields = request(random, seed)
        warm.clock.advance(random.choice([0, 1, 60, 299, 301]))
        before = engine.stats().prefill_tokens
        answer = warm.ask(*messages, max_tokens=3, **fields)
        skipped = sum(counts(answer.usage)) - (engine.stats().prefill_tokens - before)
        uncached = cold.ask(*messages, max_tokens=3, **fields)
        assert min(counts(answer.usage)) >= 0
        assert read(answer.usage) <= skipped
        assert sum(counts(answer.usage)) == sum(counts(uncached.usage))
        assert read(uncached.usage) == 0
        assert text_of(answer) == text_of(uncached)
        hits += read(answer.usage) > 0
    assert hits > 2


def request(random: Random, seed: int) -> tuple[list[Any], dict[str, Any]]:
    """One of few prompts, with markers where they may stand."""
    fields: dict[str, Any] = {"model": random.choice([*[OPUS] * 7, SONNET])}
    marks = 4
    if random.random() < 0.3:
        fields["tools"] = [tool("f", prose(f"r{seed}t"))]
        if random.random() < 0.5:
            fields["tools"][0] |= marker("1h")
            marks -= 1
    system = prose(f"r{seed}s", random.choice([30, 130, 130]))
    marked = random.random() < 0.7
    marks -= marked
    fields["system"] = [text(system, mark=marked)]
    if random.random() < 0.3:
        fields |= marker()
        marks -= 1
    turns: list[Any] = []
    for number in range(random.randint(1, 3)):
        marked = marks > 0 and random.random() < 0.5
        marks -= marked
        said = f"Question {number}, {random.choice('ab')}: " + prose(f"r{seed}u{number}", 20)
        turns += [user(text(said, mark=marked)), {"role": "assistant", "content": f"{number}."}]
    return turns[:-1], fields
