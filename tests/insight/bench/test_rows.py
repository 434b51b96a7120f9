"""What samples amount to. Expected numbers are worked out by hand in the tests."""

from typing import Any

import pytest

from headstart.insight.bench.plan import Role, Sample
from headstart.insight.bench.scenarios.clients import ManyClients
from headstart.insight.bench.scenarios.decode import DecodeSpeed
from headstart.insight.bench.scenarios.exact import ExactRepeat
from headstart.insight.bench.scenarios.prefix import PrefixReuse
from headstart.insight.bench.scenarios.session import AgentSession


def sample(role: Role, point: tuple[int, ...] = (), **measured: Any) -> Sample:
    fields: dict[str, Any] = {
        "scenario": "",
        "arm": "",
        "repeat": 0,
        "sent_tokens": 100,
        "max_tokens": 1,
        "reusable": 0,
        "started": 0.0,
        "ttft": 1.0,
        "last": 1.0,
        "total": 1.0,
        "prompt_tokens": 100,
        "completion_tokens": 1,
        "cached_tokens": 0,
    }
    return Sample(role=role, point=point, **(fields | measured))


def prefix_samples(cached: int | None, unseen: int | None) -> list[Sample]:
    point = (80, 20)
    return [
        *(sample("cold", point, ttft=t, cached_tokens=unseen) for t in (2.0, 4.0, 9.0)),
        *(sample("warm", point, ttft=t, cached_tokens=cached) for t in (0.5, 0.1, 0.8)),
        sample("repeat", point, ttft=0.1, cached_tokens=cached),
        sample("control", point, ttft=4.0, cached_tokens=unseen),
    ]


def test_the_ratio_of_scenario_a_is_that_of_the_medians() -> None:
    (row,) = PrefixReuse((80,), (20,), repeats=3).rows(prefix_samples(80, 0))
    assert row.ratio == 4.0 / 0.5
    assert row.ideal_tokens == 5.0
    assert (row.cold.low, row.cold.high, row.cold.n) == (2.0, 9.0, 3)
    assert row.cached_warm == (80, 80)


@pytest.mark.parametrize(
    ("cached", "unseen", "verdict"),
    [(80, 0, "yes"), (0, 0, "NO"), (80, 80, "NO"), (None, None, "not reported")],
)
def test_acct_16_a_faster_second_request_alone_proves_no_hit(
    cached: int | None, unseen: int | None, verdict: str
) -> None:
    (row,) = PrefixReuse((80,), (20,), repeats=3).rows(prefix_samples(cached, unseen))
    assert row.ratio == 8.0
    assert row.proved == verdict


def test_scenario_b_sums_time_per_session_and_counts_what_was_computed_twice() -> None:
    session = AgentSession(turns=3, first=100, added=50, generated=10, repeats=2, force=7)
    samples = [
        # started, ttft, total, reusable, cached
        *_turns(0, [(0.0, 1.0, 2.0, 0, 0), (3.0, 0.5, 1.0, 109, 96), (5.0, 0.25, 1.0, 159, 159)]),
        *_turns(1, [(9.0, 2.0, 3.0, 0, 0), (13.0, 0.5, 1.0, 109, 0), (15.0, 0.5, 3.0, 159, 144)]),
    ]
    (row,) = session.rows(samples)
    assert (row.wall.low, row.wall.high) == (6.0, 9.0)
    assert (row.ttft_sum.low, row.ttft_sum.high) == (1.75, 3.0)
    assert row.recomputed is not None
    assert (row.recomputed.low, row.recomputed.high) == (13 + 0, 109 + 15)
    assert row.recomputed_per_turn == (0, 14, 109)  # of 13, 0, 109, 15
    assert [t.ttft.median for t in row.turns] == [1.5, 0.5, 0.375]


def _turns(repeat: int, turns: list[tuple[float, float, float, int, int]]) -> list[Sample]:
    return [
        sample(
            "turn",
            (number,),
            repeat=repeat,
            started=started,
            ttft=ttft,
            total=total,
            reusable=reusable,
            cached_tokens=cached,
        )
        for number, (started, ttft, total, reusable, cached) in enumerate(turns, 1)
    ]


def test_a_session_without_reported_counts_claims_none() -> None:
    session = AgentSession(turns=2, first=100, added=50, generated=10, repeats=1)
    (row,) = session.rows(
        [sample("turn", (turn,), cached_tokens=None, reusable=100) for turn in (1, 2)]
    )
    assert (row.cached, row.recomputed, row.recomputed_per_turn) == (None, None, None)


def test_scenario_c_keeps_loads_apart_and_counts_all_but_the_first_request_as_possible() -> None:
    clients = ManyClients(2, 2, system=90, own=10, generated=20, repeats=1)
    shared = [
        sample(
            "client",
            started=start,
            total=4.0,
            ttft=ttft,
            completion_tokens=20,
            reusable=90,
            cached_tokens=cached,
        )
        for start, ttft, cached in [(0.0, 3.0, 0), (0.5, 3.0, 80), (4.0, 1.0, 80), (4.0, 2.0, 80)]
    ]
    off = [
        sample("client", arm="cache off", total=16.0, completion_tokens=20, reusable=90)
        for _ in range(4)
    ]
    on_row, off_row = clients.rows(shared + off)
    assert on_row.load == "shared"
    assert on_row.wall.median == 8.0
    assert on_row.output_rate.median == 80 / 8.0
    assert on_row.input_rate.median == 400 / 8.0
    assert on_row.ttft_p50.median == 2.5
    assert on_row.ttft_p95.median == 3.0
    assert (on_row.cached, on_row.possible) == (240, 270)
    assert off_row.load == "shared, cache off"
    assert (off_row.wall.median, off_row.cached) == (16.0, 0)


def test_decode_speed_leaves_out_each_streams_first_token_and_the_prefill() -> None:
    decode = DecodeSpeed((100,), (2,), generated=11, repeats=1)
    streams = [
        sample("decode", (100, 2), started=5.0, ttft=1.0, last=3.0, completion_tokens=11),
        sample("decode", (100, 2), started=5.0, ttft=2.0, last=6.0, completion_tokens=11),
    ]
    (row,) = decode.rows(streams)
    assert row.total_rate.median == 20 / (11.0 - 6.0)
    assert row.stream_rate.median == 10 / (11.0 - 6.0)


def test_scenario_e_compares_the_repeat_with_a_tiny_prompt() -> None:
    exact = ExactRepeat(length=700, tiny=8, repeats=2)
    (row,) = exact.rows(
        [
            sample("cold", (700,), ttft=8.0),
            *(sample("repeat", (700,), ttft=t, cached_tokens=699) for t in (0.25, 0.75)),
            *(sample("cold", (8,), ttft=t) for t in (0.125, 0.375)),
            sample("control", (700,), ttft=9.0),
        ]
    )
    assert row.ratio == 0.5 / 0.25
    assert (row.first.median, row.control.median) == (8.0, 9.0)
    assert (row.cached, row.proved) == ((699, 699), "yes")
