"""The self-test against an endpoint whose rules are known."""

import random
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.insight.probe.oracle import Oracle, run

from headstart.insight.probe.cost import Budget, Purse
from headstart.insight.probe.findings import self_test_report, spent
from headstart.insight.probe.prompts import Unseen
from headstart.insight.probe.report import Report
from headstart.insight.probe.script import Call, Prompt, Reply, Usage
from headstart.insight.probe.signs import signs
from headstart.insight.probe.steps import Taken, calls_of, three_steps
from headstart.insight.probe.verdict import AT_LEAST, CAPACITY_FOUND, TABLE, UNCOUNTED, VERDICTS

TEXT = "Today is {clock}. " + " ".join(f"Rule {n}: be brief." for n in range(100))


def take(
    oracle: Oracle,
    samples: int = 5,
    text: str | None = None,
    other_key: bool = False,
    **options: Any,
) -> Taken:
    own_clock = text is not None and "{clock}" in text
    script = three_steps(
        Unseen(3, 400, text),
        samples,
        own_clock=own_clock,
        clock=oracle.wall,
        seed=1,
        other_key=other_key,
    )
    return run(script, oracle, **options)


def judged(taken: Taken) -> Report:
    return self_test_report(taken, {}, Purse(Budget(None, None), None, Usage()))


def report(oracle: Oracle, **options: Any) -> Report:
    return judged(take(oracle, **options))


def verdict(oracle: Oracle, **options: Any) -> str:
    return report(oracle, **options).verdict.name


def noisy(spread: float, seed: int = 5) -> Callable[[], float]:
    chance = random.Random(seed)
    return lambda: chance.uniform(1, 1 + spread)


@pytest.mark.parametrize(
    ("oracle", "name"),
    [
        (Oracle(), "proved"),
        (Oracle(caches=False), "no_reuse"),
        (Oracle(counts=False), "timed"),
        (Oracle(counts=False, caches=False, noise=noisy(0.05)), "not_felt"),
        (Oracle(counts=False, overhead=5, noise=noisy(9)), "undecided"),
        (Oracle(overhead=5, noise=noisy(9)), "counted"),
        (Oracle(overhead=50), "counted_not_felt"),
        (Oracle(caches=False, lies=390), "no_reuse"),
        (Oracle(lies=0), "contradicted"),
        (Oracle(lies=-5), "false_counters"),
        (Oracle(lies=1_000_000), "false_counters"),
        (Oracle(replicas=3), "no_reuse"),
        (Oracle(caches=False, noise=noisy(9)), "no_reuse"),
    ],
)
def test_each_behaviour_gets_its_verdict(oracle: Oracle, name: str) -> None:
    assert verdict(oracle) == name


def test_a_claim_that_also_holds_for_unseen_prompts_is_no_reuse() -> None:
    # What it counts for the control arm is background, however much it is.
    found = report(Oracle(caches=False, lies=390))
    assert any("Unseen prefixes read up to 390 tokens" in note for note in found.notes)


def test_counters_that_read_unseen_prompts_whole_are_false() -> None:
    whole = [Reply(0.0, 1.0, Usage(400, 400, None, 1))] * 4
    assert signs([whole] * 4, whole).counters == "false"
    assert signs([whole] * 4, [Reply(0.0, 1.0, Usage(400, 0, None, 1)), *whole]).counters == "none"


def test_what_no_answer_tells_is_unknown_and_what_it_took_an_estimate() -> None:
    silent = [Reply(0.0, 1.0, Usage())] * 4
    assert signs([silent] * 4, silent).input is None
    purse = Purse(Budget(None, None), None, Usage(100, output=1))
    kinds = []
    for usage in (Usage(90, output=1), Usage()):
        purse.pay(usage)
        (tokens,) = (each.figure for each in spent(purse).numbers if each.figure.key == "tokens")
        kinds.append((tokens.value, tokens.kind))
    assert kinds == [(91, "measured"), (182, "estimated")]


@pytest.mark.parametrize("seed", [38, 135])
def test_counters_are_not_contradicted_by_a_run_of_luck(seed: int) -> None:
    # With four samples one seed in a hundred has all third calls below all of the control arm.
    oracle = Oracle(caches=False, noise=noisy(9, seed))
    taken = take(oracle, samples=4)
    assert signs(taken.repeated, taken.unseen).timing == "faster"
    assert judged(taken).verdict.name == "no_reuse"


def test_an_endpoint_that_finds_the_prefix_now_and_then_is_unsteady() -> None:
    chance, whole = random.Random(2), Oracle()
    honest = whole.ask

    def forgetful(call: Call) -> Any:
        if chance.random() < 0.5:
            whole.held.clear()
        return honest(call)

    whole.ask = forgetful  # type: ignore[method-assign]
    assert verdict(whole) == "unsteady"


def test_a_clock_in_the_first_line_is_named_as_what_breaks_a_working_cache() -> None:
    found = report(Oracle(), text=TEXT)
    assert found.verdict.name == "broken_by_clock"
    assert [remark.name for remark in found.remarks] == ["clock_breaks"]


def test_words_before_a_clock_in_the_first_line_are_no_reuse() -> None:
    # 40 words of a prompt of 245 are read again: a sixth of it, and still nothing to speak of.
    text = f"{'word ' * 30} {{clock}} {'rule ' * 200}"
    assert verdict(Oracle(), text=text) == "broken_by_clock"


def test_a_clock_in_the_first_line_of_an_endpoint_without_a_cache_is_not_blamed() -> None:
    assert verdict(Oracle(caches=False), text=TEXT) == "no_reuse"


def test_the_same_is_told_by_time_where_nothing_is_counted() -> None:
    oracle = Oracle(counts=False, noise=noisy(0.05))
    assert verdict(oracle, text=TEXT) == "broken_by_clock"


def test_a_prompt_of_ones_own_without_a_clock_is_proved() -> None:
    found = report(Oracle(), text=TEXT.replace("{clock}", "Monday"))
    assert found.verdict.name == "proved"
    assert [remark.name for remark in found.remarks] == ["clock_breaks"]


def test_a_gateway_that_puts_a_clock_in_front_looks_like_a_cache_that_is_off() -> None:
    oracle = Oracle()
    oracle.gateway = lambda prompt: replace(prompt, first=f"{oracle.wall()} {prompt.first}")
    found = report(oracle)
    assert found.verdict.name == "no_reuse"
    assert "gateway" in found.verdict.limit


@pytest.mark.parametrize(
    ("oracle", "name"),
    [
        (Oracle(), "clock_breaks"),
        (Oracle(caches=False), "no_reuse_with_clock"),
        (Oracle(counts=False, overhead=5, noise=noisy(9)), "clock_undecided"),
    ],
)
def test_what_moving_the_clock_does_is_told(oracle: Oracle, name: str) -> None:
    assert [remark.name for remark in report(oracle).remarks] == [name]


def test_a_gateway_that_drops_clocks_makes_them_harmless() -> None:
    def drop(prompt: Prompt) -> Prompt:
        kept = [line for line in prompt.first.split("\n") if not line.startswith("Current time")]
        return replace(prompt, first="\n".join(kept))

    found = report(Oracle(gateway=drop))
    assert [remark.name for remark in found.remarks] == ["clock_harmless"]


@pytest.mark.parametrize(
    ("oracle", "name", "status"),
    [
        (Oracle(noise=noisy(0.05)), "wall_holds", 0),
        (Oracle(walls=False), "wall_leaks", 1),
        (Oracle(walls=False, counts=False), "wall_leaks_by_time", 1),
        (Oracle(overhead=5, noise=noisy(9)), "wall_by_counters", 0),
        (Oracle(counts=False, overhead=5, noise=noisy(9)), "wall_undecided", 3),
    ],
)
def test_another_key_shows_whether_tenants_are_walls(
    oracle: Oracle, name: str, status: int
) -> None:
    found = report(oracle, other_key=True)
    assert found.remarks[-1].name == name
    assert found.status == status


def test_no_prompt_but_the_repeated_ones_is_sent_twice() -> None:
    oracle = Oracle()
    take(oracle, samples=4)
    assert len(oracle.asked) == calls_of(4, own_clock=False) == 40
    # Per sample: three calls are one prompt, the others are all different.
    assert len(set(oracle.asked)) == 40 - 4 * 2


def test_all_prompts_of_one_layout_are_equally_long() -> None:
    oracle = Oracle()
    taken = take(oracle, samples=3)
    lengths = {
        name: {reply.usage.input for sample in arm for reply in sample}
        for name, arm in (("first", taken.clock_first), ("last", taken.clock_last))
    }
    assert lengths["first"] == lengths["last"]
    assert {r.usage.input for s in taken.repeated for r in s} == {
        r.usage.input for r in taken.unseen
    }


def test_the_budget_leaves_whole_samples_and_says_so() -> None:
    found = report(Oracle(), tokens=415 * 25)
    assert found.verdict.name == "counted"
    assert any("budget" in note for note in found.notes)
    assert verdict(Oracle(), tokens=415 * 2) == "undecided"


def test_there_is_a_pause_before_each_request() -> None:
    quick, slow = Oracle(), Oracle()
    take(quick, samples=1)
    take(slow, samples=1, pause=2.0)
    assert slow.now - quick.now == pytest.approx(2.0 * 10)


def test_every_pair_of_signs_has_a_verdict_of_the_closed_list() -> None:
    assert len(TABLE) == 5 * 3
    assert set(TABLE.values()) < set(VERDICTS)
    names = [verdict.name for verdict in VERDICTS]
    assert len(names) == len(set(names))
    assert all(each.says and each.limit and each.status in (0, 1, 3) for each in VERDICTS)


def test_the_documentation_lists_every_verdict_of_the_self_test_with_its_status() -> None:
    page = (Path(__file__).parents[3] / "docs" / "probe.md").read_text()
    listed = dict(re.findall(r"^\| `(\w+)` \|.*\| (\d) \|$", page, re.MULTILINE))
    retention = {CAPACITY_FOUND, AT_LEAST, UNCOUNTED}
    assert listed == {each.name: str(each.status) for each in VERDICTS if each not in retention}
