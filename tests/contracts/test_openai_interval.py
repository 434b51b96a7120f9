"""Each rule by its number in docs/contracts.md."""

import random

import pytest
from tests.contracts.build import Server, account, prompt, user

from headstart.contracts.contract import Refusal
from headstart.contracts.openai_interval import OpenAIInterval
from headstart.contracts.prompt import Prompt

IDS = random.Random(1).choices(range(50_000), k=5_000)


def asked(tokens: int, **changes: object) -> Prompt:
    return prompt(ids=IDS[:tokens], **changes)


@pytest.fixture
def server() -> Server:
    return Server(OpenAIInterval())


@pytest.mark.parametrize(
    ("tokens", "read"),
    [(1023, 0), (1024, 1024), (1025, 1024), (1151, 1024), (1152, 1152), (1153, 1152)],
)
def test_o12_from_1024_tokens_on_in_steps_of_128(server: Server, tokens: int, read: int) -> None:
    server.ask(asked(tokens))
    assert account(server.ask(asked(tokens + 50), reused=tokens)) == (read, {}, tokens + 50 - read)


def test_o12_what_the_engine_reused_is_cut_down_too(server: Server) -> None:
    server.ask(asked(3000))
    reads = [server.ask(asked(3000), reused=reused).read for reused in (1023, 1024, 2000, 2999)]
    assert reads == [0, 1024, 1920, 2944]


def test_o12_a_prompt_that_turns_off_is_read_up_to_there(server: Server) -> None:
    server.ask(asked(3000))
    other = prompt(ids=[*IDS[:2000], *IDS[3000:4000]])
    assert server.ask(other, reused=2000).read == 1920


def test_o12_nothing_is_billed_as_written_and_nothing_is_promised(server: Server) -> None:
    plan = server.plan(asked(3000))
    assert (plan.settle(0).written, plan.kept) == ({}, [])


@pytest.mark.parametrize(("retention", "seconds"), [("in_memory", 600.0), ("24h", 86_400.0)])
@pytest.mark.parametrize(("offset", "read"), [(-1, 1920), (0, 0), (1, 0)])
def test_o13_a_prefix_lives_for_the_retention(
    server: Server, retention: str, seconds: float, offset: int, read: int
) -> None:
    server.ask(asked(2000, retention=retention))
    assert server.plan(asked(2000), now=seconds + offset).settle(1999).read == read


def test_o13_use_begins_it_anew_and_the_longer_retention_stays(server: Server) -> None:
    server.ask(asked(2000, retention="in_memory"))
    server.ask(asked(2000, retention="24h"), now=500.0)
    server.ask(asked(2000, retention="in_memory"), now=1000.0)
    assert server.plan(asked(2000), now=86_899.0).hit is not None
    assert server.plan(asked(2000), now=86_900.0).hit is None


def test_o13_a_shorter_prefix_stays_alive_with_the_longer_one(server: Server) -> None:
    server.ask(asked(1500, retention="in_memory"))
    server.ask(asked(3000, retention="in_memory"), now=599.0)
    assert server.plan(asked(1500), now=1100.0).settle(1499).read == 1408


def test_o13_another_retention_is_refused(server: Server) -> None:
    with pytest.raises(Refusal, match="Invalid value: '1h'") as refused:
        server.plan(asked(2000, retention="1h"))
    assert refused.value.path == "prompt_cache_retention"


def test_o14_the_cache_key_separates_nothing(server: Server) -> None:
    server.ask(asked(2000, partition="a"))
    assert server.ask(asked(2000, partition="b"), reused=1999).read == 1920


@pytest.mark.parametrize("field", ["tenant", "model"])
def test_o15_organizations_and_models_share_nothing(server: Server, field: str) -> None:
    server.ask(asked(2000, **{field: "one"}))
    assert server.ask(asked(2000, **{field: "two"}), reused=1999).read == 0


def test_o3_a_setting_that_shapes_the_prompt_breaks_the_prefix(server: Server) -> None:
    server.ask(asked(2000))
    assert server.plan(asked(2000, settings={"reasoning.effort": "high"})).hit is None
    assert server.plan(asked(2000, settings={"tool_choice": "none"})).hit is not None


@pytest.mark.parametrize(
    "wish", [{"told": True}, {"told": True, "mode": "explicit"}, {"told": True, "ttl": "30m"}]
)
def test_the_later_models_options_are_refused(server: Server, wish: dict[str, object]) -> None:
    with pytest.raises(Refusal) as refused:
        server.plan(asked(2000, **wish))
    assert str(refused.value) == "Unsupported parameter: 'prompt_cache_options'."
    assert refused.value.code == "unsupported_parameter"
    assert refused.value.path == "prompt_cache_options"


def test_the_later_models_breakpoints_are_refused(server: Server) -> None:
    with pytest.raises(Refusal) as refused:
        server.plan(prompt(user(mark=True)))
    path = "messages.0.content.0.prompt_cache_breakpoint"
    assert str(refused.value) == f"{path} is not supported on this model"
    assert (refused.value.code, refused.value.path) == ("invalid_parameter", path)
