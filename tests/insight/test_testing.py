"""`assert_prefix_stable`: what it lets pass, and what it says when it does not."""

import json
from pathlib import Path
from typing import Any

import pytest

from headstart.insight.asked.errors import Unreadable
from headstart.insight.asked.read import read
from headstart.insight.causes import ABOUT, Cause
from headstart.insight.testing import assert_prefix_stable

RULES = " ".join(f"Rule {n}: answer question {n} briefly, and cite § {n * 7}." for n in range(150))


def body(system: str = RULES, *said: str, **fields: Any) -> dict[str, Any]:
    roles = ("user", "assistant")
    turns = [{"role": roles[n % 2], "content": text} for n, text in enumerate(said or ("Hi!",))]
    return {
        "model": "gpt-4.1",
        "messages": [{"role": "system", "content": system}, *turns],
        **fields,
    }


def test_turns_that_append_and_questions_that_share_a_prompt_pass() -> None:
    assert_prefix_stable([body(RULES, "Hi!"), body(RULES, "Hi!", "Hello.", "What is a cache?")])
    assert_prefix_stable(body(RULES, f"Question {n}?") for n in range(4))
    assert_prefix_stable([])


def test_a_clock_fails_with_cause_place_and_way_out() -> None:
    clocks = ("09:14:03", "09:15:41", "09:16:22")
    with pytest.raises(AssertionError) as failed:
        assert_prefix_stable([body(f"It is {clock}. {RULES}") for clock in clocks])
    said = str(failed.value)
    assert said.startswith("2 requests lose ")
    assert "request:2: HS101 clock: " in said
    assert "at /messages/0/content, character 10: 09:14:03 became 09:15:41" in said
    assert ABOUT[Cause.CLOCK].way_out in said


@pytest.mark.parametrize("allowed", [Cause.CLOCK, "clock", "HS101"])
def test_what_is_meant_can_be_allowed_by_name_and_by_code(allowed: Any) -> None:
    bodies = [body(f"It is {clock}. {RULES}") for clock in ("09:14:03", "09:15:41")]
    assert_prefix_stable(bodies, allow=[allowed])
    with pytest.raises(AssertionError):
        assert_prefix_stable(bodies, allow=[Cause.DATE])
    with pytest.raises(ValueError, match="no cause is called 'cloc'"):
        assert_prefix_stable(bodies, allow=["cloc"])


def test_bodies_requests_and_recordings_are_taken_alike(tmp_path: Path) -> None:
    bodies = [body(f"{name} {RULES}") for name in ("Be kind.", "Be swift and brief.")]
    path = tmp_path / "asked.jsonl"
    path.write_text(
        "\n".join(json.dumps({"url": "/v1/chat/completions", "body": b}) for b in bodies)
    )
    for requests in (bodies, map(read, bodies), path, str(path)):
        with pytest.raises(AssertionError, match="HS207 wording"):
            assert_prefix_stable(requests)


def test_what_is_no_request_is_not_passed_over() -> None:
    with pytest.raises(Unreadable, match="request:2"):
        assert_prefix_stable([body(), {"nothing": 1}])
