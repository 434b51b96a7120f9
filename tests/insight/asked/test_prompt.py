import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.insight.asked.recordings import write_sessions

from headstart.contracts.entries import Entries
from headstart.insight.asked.count import Counts, Estimate
from headstart.insight.asked.prompt import FRAME, contract_of, to_prompt
from headstart.insight.asked.read import read
from headstart.ledger import Rules

LONG = "All orders are shipped within two days, and no later. " * 200
RULES = Rules.packaged()


def anthropic(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": list(messages), **fields}


def user(text: str, **fields: Any) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": text, **fields}]}


def counts() -> Counts:
    return Counts(Estimate())


def test_blocks_end_where_their_texts_do() -> None:
    body = anthropic(user("Where is it?"), system="Be brief.")
    prompt = to_prompt(read(body), counts())
    system, asked = Estimate().tokens("Be brief."), Estimate().tokens("Where is it?")
    assert list(prompt.ends) == [system + FRAME, system + asked + 2 * FRAME]
    assert prompt.tokens == prompt.ends[-1]


def test_there_are_as_many_ids_as_tokens_and_equal_beginnings_have_equal_ids() -> None:
    first = to_prompt(read(anthropic(user("Where is it?"), system=LONG)), counts())
    second = to_prompt(read(anthropic(user("Who has it?"), system=LONG)), counts())
    assert len(list(first.ids)) == first.tokens
    shared = first.ends[0]
    assert list(first.ids[:shared]) == list(second.ids[:shared])
    assert list(first.ids) != list(second.ids)


def test_ids_of_another_role_differ() -> None:
    def ids(role: str) -> list[int]:
        body = {"messages": [{"role": role, "content": "a"}]}
        return list(to_prompt(read(body), counts()).ids)

    assert ids("user") != ids("assistant")


def test_a_text_completion_has_no_frame() -> None:
    prompt = to_prompt(read({"prompt": "Where is it?"}), counts())
    assert prompt.tokens == Estimate().tokens("Where is it?")


def test_recorded_ids_are_taken_as_they_are() -> None:
    asked = replace(read(anthropic(user("b"), system="a")), tokens=[7, 8, 9, 10])
    prompt = to_prompt(asked, counts())
    assert prompt.ids == [7, 8, 9, 10]
    assert list(prompt.ends) == [2, 4]


def test_an_empty_request_is_an_empty_prompt() -> None:
    prompt = to_prompt(read(anthropic()), counts())
    assert (prompt.tokens, list(prompt.ids), list(prompt.blocks)) == (0, [], [])


@pytest.mark.parametrize(
    ("body", "vendor"),
    [
        (
            anthropic(user("Where is it?"), system=LONG, cache_control={"type": "ephemeral"}),
            "anthropic",
        ),
        ({"model": "gpt-6-sol", "messages": [user(LONG)]}, "openai"),
        ({"model": "gpt-4o", "messages": [user(LONG)]}, "openai"),
        ({"model": "gpt-6-sol", "input": LONG}, "openai"),
        ({"model": "deepseek-chat", "messages": [user(LONG)]}, "deepseek"),
        ({"model": "gemini-3-pro", "contents": [{"parts": [{"text": LONG * 3}]}]}, "gemini"),
    ],
)
def test_a_vendors_rules_find_the_second_of_two_equal_requests_cached(
    body: dict[str, Any], vendor: str
) -> None:
    asked = read(body)
    assert asked.vendor == vendor
    contract = contract_of(RULES.profile(asked.vendor, asked.model))
    entries, remembered = Entries(), counts()
    first = contract.plan(to_prompt(asked, remembered), entries, 0.0)
    assert first.hit is None
    first.commit(entries, 1.0)
    again = contract.plan(to_prompt(asked, remembered), entries, 2.0)
    assert again.hit is not None
    assert again.hit.end > 1000


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_thousand_requests_are_read_and_counted_in_seconds_and_80_megabytes(
    tmp_path: Path,
) -> None:
    path = tmp_path / "log.jsonl"
    assert write_sessions(path, requests=1000, size=14_000_000) > 14_000_000
    code = (
        "import sys, time\nfrom pathlib import Path\n"
        "from headstart.insight.asked.count import Counts, Estimate\n"
        "from headstart.insight.asked.source import read_requests\n"
        "begun, counts = time.process_time(), Counts(Estimate())\n"
        "found = [sum(map(counts.tokens, asked.pieces)) for asked in read_requests(sys.argv[1:])]\n"
        "print(len(found), sum(found), time.process_time() - begun)\n"
        "print(Path('/proc/self/status').read_text().partition('VmHWM:')[2].split()[0])\n"
    )
    begun = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    line, kilobytes = done.stdout.splitlines()
    requests, tokens, seconds = line.split()
    assert (int(requests), int(tokens) > 2_000_000) == (1000, True)
    assert float(seconds) < 2  # Half of it here; test machines differ.
    assert int(kilobytes) < 80_000
    assert time.monotonic() - begun < 30
