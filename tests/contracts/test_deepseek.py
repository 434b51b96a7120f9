"""Each rule by its number in docs/contracts.md."""

import random

import pytest
from tests.contracts.build import Server, account, prompt

from headstart.contracts.deepseek import DeepSeek
from headstart.contracts.prompt import Prompt

IDS = random.Random(1).choices(range(50_000), k=2_000)


def asked(tokens: int, **changes: object) -> Prompt:
    return prompt(ids=IDS[:tokens], **changes)


@pytest.fixture
def server() -> Server:
    return Server(DeepSeek())


@pytest.mark.parametrize(
    ("tokens", "hit"), [(63, 0), (64, 64), (65, 64), (127, 64), (128, 128), (129, 128)]
)
def test_d3_the_unit_is_64_tokens(server: Server, tokens: int, hit: int) -> None:
    server.ask(asked(tokens))
    assert account(server.ask(asked(500), reused=tokens)) == (hit, {}, 500 - hit)


def test_d2_hits_and_misses_are_the_prompt(server: Server) -> None:
    server.ask(asked(1000))
    decision = server.ask(asked(1500), reused=777)
    assert (decision.read % 64, decision.read + decision.fresh) == (0, 1500)
    assert decision.read == 768


def test_d3_only_a_beginning_counts(server: Server) -> None:
    server.ask(asked(1000))
    assert server.ask(prompt(ids=IDS[64:1000])).read == 0


def test_d4_the_answer_is_read_in_the_next_turn(server: Server) -> None:
    first = asked(640)
    plan = server.plan(first)
    plan.commit(server.entries, 0.0)
    server.contract.finish(first, plan, IDS[640:900], server.entries, 1.0)
    assert server.ask(asked(1000), now=2.0, reused=899).read == 896


def test_d4_without_its_end_the_answer_is_not_there(server: Server) -> None:
    server.ask(asked(640))
    assert server.ask(asked(1000), reused=640).read == 640


def test_d5_a_request_reads_nothing_before_another_has_begun_to_answer(server: Server) -> None:
    first, second = server.plan(asked(640)), server.plan(asked(640))
    first.commit(server.entries, 0.0)
    assert (second.hit, server.plan(asked(640)).hit is None) == (None, False)


@pytest.mark.parametrize(("now", "hit"), [(21_599.0, 640), (21_600.0, 0), (21_601.0, 0)])
def test_d5_what_is_not_used_for_six_hours_is_gone(server: Server, now: float, hit: int) -> None:
    server.ask(asked(640))
    assert server.plan(asked(700), now=now).settle(699).read == hit


@pytest.mark.parametrize("field", ["tenant", "model"])
def test_tenants_and_models_share_nothing(server: Server, field: str) -> None:
    first = asked(640, **{field: "one"})
    server.contract.finish(first, server.plan(first), IDS[640:900], server.entries, 0.0)
    assert server.ask(asked(1000, **{field: "two"}), reused=999).read == 0
