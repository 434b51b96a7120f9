import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from headstart.insight.warm.errors import WarmError
from headstart.insight.warm.plan_file import Plan, read_plan

HEAD = """
endpoint: http://127.0.0.1:8000/
dialect: anthropic
model: claude-opus-5
key_env: ANTHROPIC_API_KEY
uses: 40
every: 10m
prompts:
"""
BODY = {"system": [{"type": "text", "text": "s" * 80, "cache_control": {"type": "ephemeral"}}]}
Read = Callable[[str], Plan]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def written(text: str) -> Plan:
        (tmp_path / "body.json").write_text(json.dumps(BODY))
        (tmp_path / "plan.yaml").write_text(text)
        return read_plan(tmp_path / "plan.yaml")

    return written


def test_a_plan_names_the_endpoint_and_prompts_with_bodies_in_files_or_inline(read: Read) -> None:
    plan = read(
        HEAD
        + """
  - name: support
    body: body.json
    gaps: [5m, 90, 1h]
    worth: 0.002
  - body:
      messages: []
      cache_control: {type: ephemeral, ttl: 1h}
    uses: 3
    lifetime: 1h
    tokens: 5000
"""
    )
    assert (plan.endpoint, plan.vendor) == ("http://127.0.0.1:8000", "anthropic")
    one, two = plan.prompts
    assert (one.name, one.body, one.lifetime) == ("support", BODY, None)
    assert list(one.expected.gaps) == [300, 90, 3600]
    assert (one.expected.uses, one.expected.worth) == (40, Decimal("0.002"))
    assert (one.tokens, one.tokens_given) == (len(json.dumps(BODY).replace(" ", "")) // 4, False)
    assert (two.name, two.lifetime, two.tokens, two.tokens_given) == ("prompt 2", "1h", 5000, True)
    assert (two.expected.uses, list(two.expected.gaps)) == (3, [600])


def test_numbers_are_spelled_as_on_command_lines(read: Read) -> None:
    (prompt,) = read(HEAD + "  - {body: body.json, uses: 1e3, tokens: 4k}\n").prompts
    assert (prompt.expected.uses, prompt.tokens) == (1000, 4000)


def test_the_order_of_a_bodys_fields_is_kept(read: Read) -> None:
    body = "  - body: {z: 1, cache_control: {type: ephemeral}, a: {y: 1, b: 2}}\n"
    assert json.dumps(read(HEAD + body).prompts[0].body) == (
        '{"z": 1, "cache_control": {"type": "ephemeral"}, "a": {"y": 1, "b": 2}}'
    )


GOOD = "  - body: body.json\n"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "Expected `object`"),
        ("a: [", "flow node"),
        (HEAD, r"prompts"),
        (HEAD + GOOD + "bogus: 1\n", "unknown field `bogus`"),
        (HEAD + GOOD + "    bogus: 1\n", r"unknown field `bogus` - at `\$.prompts"),
        (HEAD + GOOD + "    uses: 0\n", ">= 1"),
        (HEAD + GOOD + "    uses: 1.5e0\n", r"prompts\[0\]: uses '1.5e0' is no number of 1 or"),
        (HEAD + GOOD + "    tokens: 4GB\n", r"prompts\[0\]: tokens '4GB' is no number"),
        (HEAD + GOOD + "prompts:\n" + GOOD, "'prompts' is given twice"),
        (HEAD + GOOD + "    every: 5m\n    every: 6m\n", "'every' is given twice"),
        (HEAD + GOOD + f"    uses: {10**30}\n", "uses"),
        (HEAD.replace("uses: 40", "") + GOOD, r"prompts\[0\]: say how many 'uses'"),
        (HEAD.replace("anthropic", "smoke") + GOOD, "no dialect 'smoke': there are anthropic,"),
        (HEAD.replace("http:", "ftp:") + GOOD, "no http or https URL"),
        (HEAD + "  - body: nothing.json\n", "No such file"),
        (HEAD + "  - body: plan.yaml\n", "is no JSON object"),
        (HEAD + "  - body: {messages: []}\n", "no cache_control"),
        (HEAD + "  - name: x\n", "no cache_control"),
        (HEAD + GOOD + "    every: soon\n", r"prompts\[0\]: a gap 'soon'"),
        (HEAD + GOOD + "    every: 0s\n", "of no time"),
        (HEAD + GOOD + "    every: 5m\n    gaps: [5m]\n", "give one of them"),
        (HEAD + GOOD + "    gaps: []\n", ">= 1"),
        (HEAD + GOOD + GOOD.replace("-", "- name: prompt 1\n   "), "two prompts have one name"),
        (HEAD + "  - body: {model: other, cache_control: {type: e}}\n", "names another model"),
        (HEAD.replace("anthropic\nm", "gemini\nm") + "  - resource: ../x\n", "no cachedContents"),
        (HEAD + GOOD + 'headers: {a: "b\\nc"}\n', "the header 'a' can't be sent"),
        (HEAD + "  - &a [*a]\n", "."),
    ],
)
def test_what_is_wrong_with_a_plan_is_one_line_that_names_it(
    read: Read, text: str, problem: str
) -> None:
    with pytest.raises(WarmError, match=problem) as raised:
        read(text)
    assert "\n" not in str(raised.value)
    assert "plan.yaml" in str(raised.value)


def test_a_plan_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(WarmError, match=r"none.yaml: No such file"):
        read_plan(tmp_path / "none.yaml")


@pytest.mark.parametrize("given", ["abc_1", "cachedContents/abc_1"])
def test_a_cached_content_may_be_named_short(read: Read, given: str) -> None:
    head = HEAD.replace("dialect: anthropic", "dialect: gemini")
    plan = read(f"{head}  - resource: {given}\n")
    assert plan.prompts[0].resource == "cachedContents/abc_1"


def test_json_is_yaml_too(read: Read) -> None:
    plan: dict[str, Any] = {
        "endpoint": "https://api.openai.com/v1",
        "dialect": "openai-responses",
        "model": "gpt-5.6",
        "prompts": [{"body": {"input": "q"}, "uses": 1}],
    }
    assert read(json.dumps(plan)).vendor == "openai"
