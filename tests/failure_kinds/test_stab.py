"""STAB: the prompt's first tokens don't stay. What a template alone decides is in `tests/text`."""

from typing import Any

from tests.failure_kinds.drive import common_prefix
from tests.server.conftest import Live

STABLE = "Answer in one short sentence and never guess. " * 8


def tool(number: int) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"x": {"type": "string"}}}
    function = {"name": f"tool_{number}", "description": "Does something.", "parameters": schema}
    return {"type": "function", "function": function}


def ask(live: Live, messages: Any, **fields: Any) -> tuple[str, int, int]:
    """Its id, the prompt's tokens, and the cached ones."""
    answer = live.client().chat.completions.create(
        model="tiny", messages=messages, max_tokens=1, **fields
    )
    assert answer.usage is not None
    assert answer.usage.prompt_tokens_details is not None
    assert answer.usage.prompt_tokens_details.cached_tokens is not None
    return answer.id, answer.usage.prompt_tokens, answer.usage.prompt_tokens_details.cached_tokens


def ids(live: Live, messages: Any, **fields: Any) -> list[int]:
    tokens: list[int] = live.post("/tokenize", messages=messages, **fields).json()["tokens"]
    return tokens


def explained(live: Live, name: str) -> Any:
    return live.get(f"/cache/explain/{name}?text=1").json()


def test_stab_02_a_first_block_that_changes_is_named_as_what_ended_the_reuse(live: Live) -> None:
    """Nothing a client says is cut out of its prompt: who sends the line is told what it costs."""
    client = live.anthropic()
    reports = []
    for nonce in ("81c2", "f00d"):
        system: Any = [
            {"type": "text", "text": f"telemetry: v=1; n={nonce};"},
            {"type": "text", "text": STABLE},
        ]
        answer = client.messages.create(
            model="tiny", system=system, messages=[{"role": "user", "content": "?"}], max_tokens=1
        )
        reports.append(explained(live, answer.id))
    report = reports[1]
    assert (report["reason"], report["message"]) == ("diverged", 0)
    assert report["text"]["before"].endswith("telemetry: v=1; n=")
    assert report["text"]["prompt"].startswith("f00d;\nAnswer in one")
    assert report["text"]["cached"].startswith("81c2;\nAnswer in one")


def test_stab_08_tools_that_come_late_lose_what_is_behind_them_and_their_going_loses_nothing(
    live: Live,
) -> None:
    """3 tools, 5, and 3 again. Those that stay stand first, so they are read; so is turn 1."""
    messages = [{"role": "user", "content": f"Which tool? {STABLE}"}]
    three, five = ({"tools": [tool(number) for number in range(count)]} for count in (3, 5))
    ask(live, messages, **three)
    then = ids(live, messages, **five)
    shared = common_prefix(ids(live, messages, **three), then)
    _, _, cached = ask(live, messages, **five)
    assert cached == shared
    text = live.codec.decode(then[:cached])
    assert "tool_2" in text
    assert "tool_3" not in text
    _, size, cached = ask(live, messages, **three)
    assert cached == size - 1


def test_stab_16_forks_with_an_id_in_front_share_nothing_behind_it_and_with_one_behind_all(
    live: Live,
) -> None:
    """The rule in docs/cache.md, and the report that tells who broke it."""
    history = [{"role": "user", "content": f"What was said before the fork: {STABLE}"}]

    def fork(session: str, *, front: bool) -> tuple[str, int, int]:
        first = f"Work in /tmp/{session}. " if front else ""
        last = "" if front else f" In /tmp/{session}."
        begin = {"role": "system", "content": f"{first}Be brief."}
        asked = {"role": "user", "content": f"Go on.{last}"}
        return ask(live, [begin, *history, {"role": "assistant", "content": "Yes."}, asked])

    known = len(ids(live, history))
    fork("a1", front=True)
    for session in ("b2", "c3"):
        name, size, cached = fork(session, front=True)
        assert cached < size - known
        report = explained(live, name)
        assert report["message"] == 0
        assert report["text"]["before"].endswith("Work in /tmp/")
        assert report["text"]["prompt"].startswith(f"{session}. Be brief.")
    fork("a1", front=False)
    for session in ("b2", "c3"):
        name, size, cached = fork(session, front=False)
        assert cached > known
        assert explained(live, name)["text"]["prompt"].startswith(f"{session}.")
