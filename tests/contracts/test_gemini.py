"""Each rule by its number in docs/contracts.md."""

import random

import pytest
from tests.contracts.build import Server, account, prompt

from headstart.contracts.cached_contents import CachedContents
from headstart.contracts.gemini import Gemini
from headstart.contracts.prompt import Prompt

IDS = random.Random(1).choices(range(50_000), k=10_000)


def asked(tokens: int, **changes: object) -> Prompt:
    return prompt(ids=IDS[:tokens], **changes)


@pytest.fixture
def server() -> Server:
    return Server(Gemini(minimum=2048))


def test_g1_a_repeat_is_read_and_nothing_is_written_or_kept(server: Server) -> None:
    plan = server.plan(asked(4096))
    plan.commit(server.entries, 0.0)
    assert (account(plan.settle(0)), plan.kept) == ((0, {}, 4096), [])
    assert account(server.ask(asked(5000), reused=4096)) == (4096, {}, 904)


@pytest.mark.parametrize("minimum", [1024, 2048, 4096])
@pytest.mark.parametrize("offset", [-1, 0, 1])
def test_g2_shorter_prompts_than_the_minimum_are_not_cached(minimum: int, offset: int) -> None:
    server = Server(Gemini(minimum=minimum))
    server.ask(asked(minimum + offset))
    read = server.ask(asked(minimum + 100), reused=minimum + offset).read
    assert read == (0 if offset < 0 else minimum)


def test_g3_an_entry_lasts_five_minutes_after_its_last_use(server: Server) -> None:
    server.ask(asked(3000))
    server.ask(asked(3000), now=299.0)
    assert server.plan(asked(3000), now=598.0).hit is not None
    assert server.plan(asked(3000), now=599.0).hit is None


def test_g6_a_cached_content_is_read_whole(server: Server) -> None:
    through = asked(7036, content="cachedContents/a", content_tokens=7021)
    assert account(server.ask(through, reused=7030)) == (7021, {}, 15)
    assert server.ask(through, reused=7000).read == 7000


def test_g9_making_a_cached_content_is_written_in_full_whatever_is_cached(server: Server) -> None:
    """Full price at creation, in rules.toml `explicit`; the implicit minimum is another's (G5)."""
    server.ask(asked(4096))
    made = asked(4096, content="cachedContents/a", content_seconds=600.0)
    assert account(server.ask(made, reused=4095)) == (0, {"explicit": 4096}, 0)
    plan = server.plan(asked(1024, content="cachedContents/a", content_seconds=600.0))
    assert (account(plan.settle(0)), plan.kept) == ((0, {"explicit": 1024}, 0), [(1024, 600.0)])
    assert plan.minimum == 0


def test_g4_a_request_through_a_cached_content_extends_and_keeps_nothing(server: Server) -> None:
    through = asked(7036, content="cachedContents/a", content_tokens=7021)
    plan = server.plan(through)
    plan.commit(server.entries, 0.0)
    assert (plan.kept, server.entries.count("acme")) == ([], 0)


@pytest.mark.parametrize("field", ["tenant", "model"])
def test_g8_and_g10_projects_and_models_share_nothing(server: Server, field: str) -> None:
    server.ask(asked(3000, **{field: "one"}))
    assert server.ask(asked(3000, **{field: "two"}), reused=2999).read == 0


def test_one_document_asked_many_times_is_read_whole_each_time_and_stored_for_its_hour(
    server: Server,
) -> None:
    """The numbers of the recorded call: 7,021 tokens kept, 7,036 asked."""
    contents: CachedContents[str] = CachedContents()
    contents.create(
        "cachedContents/a",
        "the document",
        owner="acme",
        model="models/m",
        tokens=7021,
        minimum=1024,
        now=0.0,
    )
    contents.ready("cachedContents/a")
    for minute in (1, 20, 59):
        kept = contents.use("cachedContents/a", owner="acme", model="models/m", now=minute * 60.0)
        through = asked(kept.tokens + 15, content=kept.name, content_tokens=kept.tokens)
        assert account(server.ask(through, now=minute * 60.0)) == (7021, {}, 15)
    assert [held.token_seconds for held in contents.collect(7200.0)] == [7021 * 3600]
