"""What is told of a request's reuse: header, log line, metrics."""

import logging
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from headstart.cache import Reason

HEADER = "x-headstart-cache"
REASONS = {reason.value for reason in Reason}


@pytest.fixture(scope="module")
def live(start_real: Any) -> Any:
    """Its own: elsewhere other tests' prompts may begin like these."""
    return start_real()


def ids(seed: int, count: int) -> list[int]:
    return [3 + (seed * 31 + 17 * i + i * i) % 300 for i in range(count)]


def told(header: str) -> tuple[int, str]:
    found = re.fullmatch(r"hit=(\d+); reason=([a-z_]+)", header)
    assert found, header
    return int(found[1]), found[2]


@pytest.fixture
def reuse_log(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    with caplog.at_level(logging.INFO, logger="headstart.reuse"):
        yield caplog


def metrics(live: Any) -> Counter[str]:
    """Every sample of /metrics by its name and labels."""
    lines = live.get("/metrics").text.splitlines()
    samples = (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    return Counter({name: float(value) for name, value in samples})


@pytest.mark.parametrize("seen", [False, True])
@pytest.mark.parametrize("stream", [False, True])
def test_the_header_of_a_chat_agrees_with_its_usage(
    live: Any, words: Any, stream: bool, seen: bool
) -> None:
    create = live.client().chat.completions.with_raw_response.create
    fields: Any = {"model": "tiny", "messages": words(f"head{stream}{seen}", 30), "max_tokens": 3}
    if seen:
        create(**fields)
    if stream:
        response = create(**fields, stream=True, stream_options={"include_usage": True})
        *_, last = response.parse()
        usage = last.usage
    else:
        response = create(**fields)
        usage = response.parse().usage
    hit, reason = told(response.headers[HEADER])
    assert hit == usage.prompt_tokens_details.cached_tokens
    if seen:
        assert (hit, reason) == (usage.prompt_tokens - 1, "capped")
    else:
        assert hit < 20
        assert reason in REASONS - {"capped"}


@pytest.mark.parametrize("stream", [False, True])
def test_the_header_of_a_completion_agrees_with_its_usage(live: Any, stream: bool) -> None:
    create = live.client().completions.with_raw_response.create
    prompt = ids(100 + stream, 60)
    for hit, reason in ((0, "never_seen"), (59, "capped")):
        response = create(model="tiny", prompt=prompt, max_tokens=2, stream=stream)
        response.parse()
        assert told(response.headers[HEADER]) == (hit, reason)


def test_the_header_of_many_prompts_sums_what_they_reused_and_tells_the_firsts_reason(
    live: Any,
) -> None:
    create = live.client().completions.with_raw_response.create
    known, new = ids(110, 60), ids(111, 60)
    create(model="tiny", prompt=known, max_tokens=1)
    response = create(model="tiny", prompt=[new, known, known], max_tokens=1)
    hit, reason = told(response.headers[HEADER])
    assert hit == response.parse().usage.prompt_tokens_details.cached_tokens == 2 * 59
    assert reason == "never_seen"


def test_choices_of_one_prompt_are_one_account(live: Any, reuse_log: Any) -> None:
    create = live.client().completions.with_raw_response.create
    response = create(model="tiny", prompt=ids(115, 60), max_tokens=3, n=3)
    assert told(response.headers[HEADER]) == (0, "never_seen")
    assert len(reuse_log.records) == 1


def test_a_refusal_and_other_endpoints_have_no_such_header(live: Any) -> None:
    refused = live.post("/v1/chat/completions", model="tiny", messages="Hi")
    assert refused.status_code == 400
    assert HEADER not in refused.headers
    assert HEADER not in live.get("/v1/models").headers


def test_every_prompt_has_a_log_line_that_names_its_report(live: Any, reuse_log: Any) -> None:
    first, second = ids(120, 40), ids(121, 50)
    answer = live.client().completions.create(model="tiny", prompt=[first, second], max_tokens=1)
    assert sorted(record.getMessage() for record in reuse_log.records) == [
        f"{answer.id}-0 hit=0 of 40; reason=never_seen",
        f"{answer.id}-1 hit=0 of 50; reason=never_seen",
    ]


def test_no_log_line_tells_what_was_said(live: Any, words: Any, reuse_log: Any) -> None:
    live.client().chat.completions.create(
        model="tiny", messages=words("confidential", 10), max_tokens=1
    )
    assert len(reuse_log.records) == 1
    assert "confidential" not in reuse_log.text


def test_cached_and_missed_tokens_add_up_to_the_prompts(live: Any, words: Any) -> None:
    before = metrics(live)
    client = live.client(strict=False)  # Stream pieces have no reason, which its types want.
    for count in (20, 30, 20):
        client.chat.completions.create(model="tiny", messages=words("sum", count), max_tokens=1)
    client.completions.create(model="tiny", prompt=[ids(130, 33), ids(131, 7)], max_tokens=1, n=2)
    for piece in client.completions.create(
        model="tiny", prompt=ids(130, 48), max_tokens=4, stream=True
    ):
        assert piece.id
    now = metrics(live)
    gained = Counter({name: now[name] - before[name] for name in now})
    missed = {name: value for name, value in gained.items() if "missed_tokens_total" in name}
    prompts = {name: value for name, value in gained.items() if "headstart_prompts_total" in name}
    cached = gained["headstart_cached_tokens_total"]
    assert cached > 0
    assert sum(missed.values()) + cached == gained["headstart_prompt_tokens_total"]
    assert sum(prompts.values()) == 6
    assert gained['headstart_missed_tokens_total{reason="capped"}'] == 1
    assert gained['headstart_prompts_total{reason="capped"}'] == 1
    assert {re.findall(r'reason="(\w+)"', name)[0] for name in prompts} <= REASONS
