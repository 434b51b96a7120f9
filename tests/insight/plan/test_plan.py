from pathlib import Path
from typing import Any

import pytest
from tests.insight.plan.asking import ask, report, usual, value

from headstart.insight.plan.errors import PlanError
from headstart.insight.plan.kv_types import KV_TYPES
from headstart.insight.plan.prefill import prefill


def test_advice_has_its_order_and_multiplies_nothing() -> None:
    """000 §12: hit rate, then prefill's share, then other means; their gains don't multiply."""
    first, second, third = report().advice
    assert first.startswith("Hit rate first")
    assert second.startswith("Then prefill's share: 84% of a miss, 21% of a hit")
    for means in ("chunked prefill", "disaggregation", "speculation"):
        assert means in third
    assert "nor to be multiplied" in third


def test_below_half_the_advice_is_to_move_what_changes() -> None:
    """000 §5.2: a new document each time leaves 19 %."""
    made = report(prefix=800, question=3400)
    assert "at most 19.0% of each prompt" in made.advice[0]


def test_a_hit_rate_above_the_ceiling_is_a_finding() -> None:
    """000 §5.1: 99 % contradicts 200 new tokens of 4,200."""
    assert report(hit_rate=0.95).findings == []
    (found,) = report(hit_rate=0.99).findings
    assert "99.00% is impossible" in found
    assert "95.24%" in found


def test_the_given_hit_rate_has_a_row() -> None:
    rows = report(hit_rate=0.7).table("hit_rates").rows
    assert 0.7 in [row[0] for row in rows]


def test_a_prompt_beyond_the_context_is_a_finding() -> None:
    assert report(prefix=7992).findings == []
    (found,) = report(prefix=7993).findings
    assert found == "The prompt has 8,193 tokens, the model's context 8,192."


def test_a_prefix_below_a_block_is_a_finding() -> None:
    assert report(prefix=15).findings == [
        "Nothing is reusable: the prefix fills no block of 16 tokens."
    ]


def test_the_plan_is_what_the_closed_form_says_where_nothing_is_left_out() -> None:
    """Weights given, nothing reserved: n_max is the usual one."""
    made = report(weights="16GB", reserve="0")
    assert value(made, "resident_prefixes") == usual(made, "resident_prefixes") == 122


def test_gpus_share_weights_work_and_heads() -> None:
    """70B on 4 x 80 GB: on each 35.3 GB of weights and 80 KiB per token; a quarter of the time."""
    one, four = report(model="llama-3-70b"), report(model="llama-3-70b", tensor_parallel=4)
    assert four.findings == []
    assert value(four, "kv_bytes_per_token_and_gpu") == 80 * 1024
    left = 72e9 - 141_107_412_992 / 4
    assert value(four, "pool_bytes") == pytest.approx(left)
    assert value(four, "resident_prefixes") == left // (4000 * 80 * 1024)
    assert value(four, "miss_prefill_seconds") * 4 == pytest.approx(
        value(one, "miss_prefill_seconds")
    )


def test_fp8_doubles_what_fits() -> None:
    full, half = report(), report(kv_dtype="fp8")
    assert value(half, "pool_tokens") == pytest.approx(2 * value(full, "pool_tokens"), abs=1)
    assert ask(kv_dtype="fp8").model.kv == KV_TYPES["fp8"]


def test_a_hybrid_tells_its_state_and_a_window_its_size() -> None:
    hybrid = report(model="qwen3.5-27b").figure("state_bytes")
    assert hybrid.kind == "estimated"
    assert hybrid.value == pytest.approx(147 * 2**20, rel=5e-3)
    assert report(model="gpt-oss-20b").figure("window_bytes").value == 3 * 2**20
    with pytest.raises(KeyError):
        report().figure("state_bytes")


@pytest.mark.parametrize(
    "name", ["llama-3-8b", "deepseek-v3.2", "qwen3.5-397b-a17b", "gpt-oss-120b", "llama-4-scout"]
)
def test_more_reuse_is_always_less_work(name: str) -> None:
    asked = ask(model=name)
    work = [prefill(asked.model, asked.machine, at, 4200).flops for at in range(0, 4200, 100)]
    assert work == sorted(work, reverse=True)
    assert len(set(work)) == len(work)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"price": "anthropic/claude-sonnet-4-5", "write": 2.0}, "--write and --price contradict"),
        ({"price": "anthropic/claude-sonnet-4-5", "rent": 1.0}, "--rent and --price contradict"),
        ({"prices": Path("own.toml")}, "--prices says nothing without --price"),
        ({"policies": ["lru"]}, "--policy says nothing without --trace"),
        ({"turn_tokens": 5}, "--turn-tokens says nothing without --turns"),
    ],
)
def test_an_option_that_would_do_nothing_is_refused(given: Any, problem: str) -> None:
    with pytest.raises(PlanError, match=problem):
        ask(**given)


def test_what_was_not_given_is_told_as_a_default() -> None:
    told = {each.key: each.given for each in report().assumptions}
    assert told["flops"]
    assert told["overhead"]
    assert not told["bandwidth"]
    assert not told["reserve"]
    assert not told["prices"]
