"""Properties of what is asked: the claims of the tables rest on them."""

import itertools
from collections.abc import Sequence

import pytest

from headstart.insight.bench.catalog import KEYS, Choice, scenarios
from headstart.insight.bench.driver import warm_up
from headstart.insight.bench.plan import Request, Step, count
from headstart.insight.bench.prompts import PromptSource
from headstart.insight.bench.scenarios.base import Scenario

CONTEXT = 8192
FORCED = 1234


def full(*keys: str, force: int | None = FORCED, quick: bool = False) -> list[Scenario]:
    return scenarios(Choice(keys or KEYS, "smollm2-135m-instruct", quick=quick, force=force))


def requests(steps: Sequence[Step]) -> list[Request]:
    return [request for step in steps for lane in step for request in lane]


def longest_seen(prompt: tuple[int, ...], earlier: Sequence[tuple[int, ...]]) -> int:
    """The naive oracle of a cache without blocks: the longest common prefix, one token left out."""
    best = 0
    for other in earlier:
        same = 0
        for one, two in zip(prompt[:-1], other, strict=False):
            if one != two:
                break
            same += 1
        best = max(best, same)
    return best


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("force", [None, FORCED])
def test_every_prompt_and_its_answer_fit_into_the_context(quick: bool, force: int | None) -> None:
    source = PromptSource(0)
    for scenario in full(quick=quick, force=force):
        for request in requests(scenario.plan(source)):
            assert len(request.prompt) + request.max_tokens <= CONTEXT


@pytest.mark.parametrize("key", ["A", "B", "E"])
def test_what_is_called_reusable_is_exactly_what_came_before(key: str) -> None:
    source = PromptSource(0)
    (scenario,) = full(key, quick=True)
    earlier: list[tuple[int, ...]] = []
    for request in requests([*warm_up(source, scenario.plan(source)), *scenario.plan(source)]):
        if request.role != "warmup":
            assert request.reusable == longest_seen(request.prompt, earlier), request.role
        generated = (request.force,) * (request.max_tokens - 1) if request.force else ()
        earlier.append(request.prompt + generated)


def test_scenario_a_asks_each_point_cold_warm_and_again_with_a_control_after_the_hits() -> None:
    (scenario,) = full("A")
    asked = requests(scenario.plan(PromptSource(0)))
    for shared in (1000, 2000, 4000, 7000):
        for new in (50, 200):
            mine = [r for r in asked if r.point == (shared, new)]
            assert [r.role for r in mine] == ["cold", "warm", "repeat"] * 5 + ["control"]
            assert {len(r.prompt) for r in mine} == {shared + new}
            cold, warm, repeat = mine[:3]
            assert cold.prompt[:shared] == warm.prompt[:shared]
            assert cold.prompt[shared] != warm.prompt[shared]
            assert repeat.prompt == warm.prompt


def test_scenario_b_grows_from_1300_to_7760_tokens_in_20_turns() -> None:
    (scenario,) = full("B")
    steps = scenario.plan(PromptSource(0))
    assert len(steps) == 3
    for ((*turns,),) in steps:
        assert [len(t.prompt) for t in turns] == list(range(1300, 7761, 340))
        for before, after in itertools.pairwise(turns):
            assert after.prompt[: len(before.prompt) + 40] == before.prompt + (FORCED,) * 40


def test_scenario_b_claims_no_reuse_of_answers_whose_ids_it_does_not_know() -> None:
    (scenario,) = full("B", force=None)
    ((turns,), *_) = scenario.plan(PromptSource(0))
    for before, after in itertools.pairwise(turns):
        assert after.reusable == len(before.prompt)
        assert after.force is None


def test_scenario_c_is_8_clients_times_6_with_one_system_prompt_and_a_control_without() -> None:
    (scenario,) = full("C")
    steps = scenario.plan(PromptSource(0))
    assert [step[0][0].role for step in steps] == ["client", "control"] * 3
    for step in steps:
        asked = requests([step])
        assert [len(lane) for lane in step] == [6] * 8
        assert {len(r.prompt) for r in asked} == {2100}
        assert {r.max_tokens for r in asked} == {32}
        beginnings = {r.prompt[:2000] for r in asked}
        assert len(beginnings) == (1 if asked[0].role == "client" else 48)
        assert len({r.prompt[2000] for r in asked}) == 48


def test_scenario_d_primes_every_stream_and_streams_share_nothing() -> None:
    (scenario,) = full("D")
    steps = scenario.plan(PromptSource(0))
    primed = {r.prompt for r in requests(steps) if r.role == "prime"}
    rounds = [step for step in steps if step[0][0].role == "decode"]
    assert [(len(s[0][0].prompt), len(s)) for s in rounds] == [
        *((1000, 1), (1000, 4), (4000, 1), (4000, 4)) * 3
    ]
    for step in rounds:
        prompts = [r.prompt for r in requests([step])]
        assert set(prompts) <= primed
        assert len({p[0] for p in prompts}) == len(prompts)


def test_repeats_multiply_the_measurements() -> None:
    def size(repeats: int) -> int:
        chosen = Choice(("D",), "m", repeats=repeats)
        return count(scenarios(chosen)[0].plan(PromptSource(0)))

    assert size(4) - size(3) == size(3) - size(2) == 2 * (1 + 4)
