"""`headstart warm` against our own server, on a clock that tests turn: issue 5, criterion 4."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.served import Clock, load, serving
from tests.server.conftest import Live

from headstart.insight.warm.main import FINDING, FINE, Given, main

pytestmark = pytest.mark.slow
CLAUDE, GPT, GEMINI = "claude-opus-5", "gpt-5.6", "gemini-2.5-flash"
QUESTION = [{"role": "user", "content": "Why?"}]


def words(seed: str, count: int) -> str:
    """Some 3 tokens a word, new for every seed."""
    return " ".join(f"{seed}{number}" for number in range(count))


def marked(seed: str) -> dict[str, Any]:
    """A body for Anthropic whose system prompt is cached for 5 minutes."""
    mark = {"type": "ephemeral"}
    system = [{"type": "text", "text": words(seed, 250), "cache_control": mark}]
    return {"max_tokens": 4, "system": system, "messages": QUESTION}


@dataclass
class Kept:
    """The server, the clock that it and the warmer share, and what the warmer said."""

    live: Live
    clock: Clock
    folder: Path
    capsys: pytest.CaptureFixture[str]
    during: Callable[[float], None] = field(default=lambda _: None)
    """Hears of every pause before it, in seconds since the first."""

    def warm(self, dialect: str, model: str, **more: Any) -> tuple[int, dict[str, Any]]:
        """Exit status and what JSON says of the only prompt."""
        base = f"{self.live.url}/v1" if dialect.startswith("openai") else self.live.url
        prompt = {name: more.pop(name) for name in ("body", "resource", "tokens") if name in more}
        plan = {"endpoint": base, "dialect": dialect, "model": model, "prompts": [prompt], **more}
        path = self.folder / "plan.yaml"
        path.write_text(json.dumps(plan))
        begun = self.clock.now

        def sleep(seconds: float) -> None:
            self.during(self.clock.now - begun)
            self.clock.advance(seconds)

        self.capsys.readouterr()
        status = main(Given(path), form="json", now=self.clock, sleep=sleep)
        out, err = self.capsys.readouterr()
        (told,) = json.loads(out)["prompts"]
        failed = told["ended"] in ("gone", "refused")
        assert len(err.splitlines()) == told["calls"] + failed, "each call is a line on stderr"
        return status, told

    def ask(self, model: str, body: dict[str, Any]) -> Any:
        """What Anthropic's own client is told of its use."""
        client = self.live.anthropic(default_headers={"anthropic-version": "2023-06-01"})
        return client.messages.create(model=model, **body).usage


@pytest.fixture(scope="module")
def server(tiny_checkpoint: Callable[..., Path]) -> Iterator[tuple[Live, Clock]]:
    clock = Clock()
    model = load(tiny_checkpoint("llama", max_position_embeddings=4096))
    aliases = (("anthropic", CLAUDE), ("openai", GPT), ("gemini", GEMINI))
    with ExitStack() as stack:
        yield stack.enter_context(serving(model, clock, aliases=aliases)), clock


@pytest.fixture
def kept(server: tuple[Live, Clock], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Kept:
    return Kept(*server, tmp_path, capsys)


def calls_until_break_even(value: Fraction, first: Fraction, again: Fraction) -> int:
    """Calls in all: the first, and more as long as they are paid for."""
    calls, spent = 1, first
    while spent + again <= value:
        calls, spent = calls + 1, spent + again
    return calls


def test_a_prefix_outlives_its_lifetime_until_break_even_and_the_counters_say_so(
    kept: Kept,
) -> None:
    body, begun = marked("a"), kept.clock.now
    status, told = kept.warm("anthropic", CLAUDE, body=body, uses=2)
    assert (status, told["ended"]) == (FINE, "break-even")
    first, *later = told["sent"]
    prefix, rest = first["written"]["5m"], first["fresh"]
    assert (first["read"], first["output"]) == (0, 0)
    assert prefix > 512
    assert {(each["read"], sum(each["written"].values())) for each in later} == {(prefix, 0)}
    # Anthropic's prices, in units of the input's: a write 1.25, a read 0.1 (rule A11).
    write, read = Fraction("1.25"), Fraction("0.1")
    expected = calls_until_break_even(
        2 * (write - read) * prefix, write * prefix + rest, read * prefix + rest
    )
    assert told["calls"] == expected > 8
    assert kept.clock.now - begun > 5 * 300
    gaps = {b["at"] - a["at"] for a, b in zip(told["sent"], later, strict=False)}
    assert gaps == {285.0}

    usage = kept.ask(CLAUDE, body)
    assert usage.cache_read_input_tokens == prefix
    kept.clock.advance(301)
    usage = kept.ask(CLAUDE, body)
    assert (usage.cache_read_input_tokens, usage.cache_creation_input_tokens) == (0, prefix)


def test_what_it_spent_is_the_bill_of_the_servers_own_accounts(kept: Kept) -> None:
    _, told = kept.warm("anthropic", CLAUDE, body=marked("b"), uses=1, worth=0.002)
    read, written, fresh = told["read_tokens"], told["written_tokens"], told["fresh_tokens"]
    # $5 a million tokens of input.
    dollars = (fresh + Decimal("1.25") * written + Decimal("0.1") * read) * 5 / 10**6
    assert Decimal(told["spent"]) == dollars


def test_a_prefix_that_went_away_is_a_finding_and_is_written_again(kept: Kept) -> None:
    def forget(passed: float) -> None:
        if passed == 285:
            kept.live.post("/cache/reset")

    kept.during = forget
    status, told = kept.warm("anthropic", CLAUDE, body=marked("c"), uses=3, every="6m")
    assert (status, told["ended"]) == (FINDING, "done")
    prefix = told["prefix_tokens"]
    assert [each["read"] for each in told["sent"]] == [0, prefix, 0, prefix]
    assert told["sent"][2]["written"]["5m"] == prefix
    assert told["findings"] == [
        f"{prefix:,} of {prefix:,} tokens were gone 285 s after the call before"
    ]


def test_calls_that_come_too_late_are_found_out_by_the_counters(kept: Kept) -> None:
    """The plan claims a longer life than the vendor gives."""
    status, told = kept.warm(
        "anthropic", CLAUDE, body=marked("d"), uses=9, every="11m", lifetime="10m"
    )
    assert status == FINDING
    assert "were gone 570 s after" in told["findings"][0]
    assert told["sent"][1]["read"] == 0


def test_a_prompt_below_the_minimum_is_given_up_after_one_call(kept: Kept) -> None:
    body = marked("e")
    body["system"][0]["text"] = "Be brief."
    status, told = kept.warm("anthropic", CLAUDE, body=body, uses=9, tokens=600)
    assert (status, told["ended"], told["calls"]) == (FINDING, "nothing cached", 1)
    assert "the minimum is 512" in told["findings"][0]


@pytest.mark.parametrize("dialect", ["openai-responses", "openai-chat"])
def test_openais_apis_keep_a_prefix_across_its_half_hour(kept: Kept, dialect: str) -> None:
    chat = dialect == "openai-chat"
    text = words(dialect[7:9], 400)
    messages = [{"role": "user", "content": text}]
    body: dict[str, Any] = {"messages": messages} if chat else {"input": text}
    begun = kept.clock.now
    status, told = kept.warm(dialect, GPT, body=body, uses=2, every="2h")
    assert (status, told["ended"]) == (FINE, "done")
    first, *later = told["sent"]
    prefix = first["written"]["30m"]
    assert prefix > 1024
    assert {each["output"] for each in told["sent"]} == {1 if chat else 0}
    read = [(each["read"], sum(each["written"].values())) for each in later]
    assert read == [(prefix, 0)] * len(later)
    # Two uses two hours apart: 14,400 s, of which each call after the first lives on 1,710.
    assert told["calls"] == 1 + -(-(14_400 - 1_800) // 1_710)
    assert kept.clock.now - begun > 5 * 1800


def test_a_cached_content_is_moved_on_until_its_rent_is_more_than_it_saves(kept: Kept) -> None:
    document = words("g", 420)
    body = {"contents": [{"role": "user", "parts": [{"text": document}]}]}
    status, told = kept.warm("gemini", GEMINI, body=body, uses=5, lifetime="5m")
    assert (status, told["ended"]) == (FINE, "break-even")
    name, tokens = told["resource"], told["prefix_tokens"]
    # 2.5 Flash, by the million: input $0.30, read $0.03, storage $1 an hour.
    rent = Fraction(1, 3600)
    expected = calls_until_break_even(
        5 * Fraction("0.27"), Fraction("0.3") + 300 * rent, 285 * rent
    )
    assert told["calls"] == expected > 8
    assert [each["found"] for each in told["sent"]] == [0] + [tokens] * (expected - 1)
    client = kept.live.gemini()
    answer = client.models.generate_content(
        model=GEMINI, contents="q", config={"cached_content": name, "max_output_tokens": 2}
    )
    assert answer.usage_metadata is not None
    assert answer.usage_metadata.cached_content_token_count == tokens
    kept.clock.advance(301)
    assert kept.live.get(f"/v1beta/{name}").status_code == 403


def test_a_cached_content_that_is_gone_is_a_finding(kept: Kept) -> None:
    client = kept.live.gemini()
    made = client.caches.create(
        model=GEMINI, config={"contents": words("h", 420), "ttl": "300s"}
    ).name

    def delete(passed: float) -> None:
        if passed > 500:
            client.caches.delete(name=made)

    kept.during = delete
    status, told = kept.warm("gemini", GEMINI, resource=made, uses=50, lifetime="5m", tokens=1200)
    assert (status, told["ended"], told["calls"]) == (FINDING, "gone", 3)
    assert told["findings"] == ["403: CachedContent not found (or permission denied)"]


def test_our_own_server_counts_in_tokens_that_nobody_bills(kept: Kept) -> None:
    body = {"messages": [{"role": "system", "content": words("i", 60)}, *QUESTION]}
    status, told = kept.warm("headstart", "tiny", body=body, uses=2, every="1h", lifetime="10m")
    assert (status, told["ended"]) == (FINE, "done")
    first, *later = told["sent"]
    assert first["read"] < 20, "what all prompts of the template begin with"
    assert {each["fresh"] for each in later} == {1}
    assert int(told["spent"]) == first["fresh"] + len(later)
    found = kept.live.post("/cache/lookup", **body).json()
    assert found["cached_tokens"] == found["prompt_tokens"] - 1
    pins = kept.live.get("/cache/pin").json()["pins"]
    assert [pin["tokens"] for pin in pins if pin["ttl"] == 600] == [first["prompt"]]
