"""`explain` and the server's own report name one place and one reason, over a real socket."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.server.conftest import Live, start_real, tiny

from headstart.insight.causes import Cause
from headstart.insight.explain.main import Given, main

__all__ = ["start_real", "tiny"]

RULES = " ".join(f"Rule {n}: answer question {n} briefly and politely." for n in range(1, 10))
OTHERS = " ".join(f"Rule {n}: cite paragraph {n * 7} of the handbook." for n in range(1, 10))
SCHEMA = {"type": "object", "properties": {"city": {"type": "string", "description": RULES[:90]}}}
TURNS = ("What is a cache?", "What was computed before, kept for later.", "And a token?")

Body = dict[str, Any]


def chat(system: str, turns: Any = TURNS, tools: Any = (), **fields: Any) -> Body:
    roles = ("user", "assistant")
    said = [{"role": roles[n % 2], "content": text} for n, text in enumerate(turns)]
    offered = [
        {"type": "function", "function": {"name": name, "parameters": SCHEMA}} for name in tools
    ]
    body: Body = {
        "model": "tiny",
        "max_tokens": 1,
        "temperature": 0,
        "messages": [{"role": "system", "content": system}, *said],
    }
    return body | ({"tools": offered} if offered else {}) | fields


def messages(system: str, turns: Any = TURNS, tools: Any = (), **fields: Any) -> Body:
    roles = ("user", "assistant")
    said = [{"role": roles[n % 2], "content": text} for n, text in enumerate(turns)]
    offered = [{"name": name, "input_schema": SCHEMA} for name in tools]
    body: Body = {
        "model": "tiny",
        "max_tokens": 1,
        "temperature": 0,
        "system": system,
        "messages": said,
    }
    return body | ({"tools": offered} if offered else {}) | fields


DIALECTS = {"/v1/chat/completions": chat, "/v1/messages": messages}
Pair = Callable[[Callable[..., Body]], tuple[Body, Body]]
KINDS: dict[str, tuple[Pair, Cause | None]] = {
    "clock in front": (
        lambda write: (write(f"It is 09:14. {RULES}"), write(f"It is 10:02. {RULES}")),
        Cause.CLOCK,
    ),
    "history edited": (
        lambda write: (
            write(RULES, (TURNS[0], OTHERS, *TURNS[2:])),
            write(RULES, (TURNS[0], OTHERS.replace("Rule 2:", "Rule two:"), *TURNS[2:])),
        ),
        Cause.HISTORY_EDITED,
    ),
    "tools sorted otherwise": (
        lambda write: (
            write(RULES, tools=("weather", "news")),
            write(RULES, tools=("news", "weather")),
        ),
        Cause.TOOL_ORDER,
    ),
    "append only": (
        lambda write: (write(RULES, TURNS[:1]), write(RULES, (TURNS[0], "A memory.", TURNS[2]))),
        None,
    ),
    "the same again": (lambda write: (write(RULES), write(RULES)), None),
    "another question": (
        lambda write: (write(RULES, TURNS[:1]), write(RULES, TURNS[2:])),
        None,
    ),
    "a word more in the system prompt": (
        lambda write: (write(f"{RULES[:200]} {OTHERS}"), write(f"{RULES[:200]} Be kind. {OTHERS}")),
        Cause.WORDING,
    ),
}


@pytest.fixture(scope="module")
def live(start_real: Any) -> Any:
    return start_real()


def send(live: Live, path: str, body: Body, key: str = "anything") -> str:
    headers = {"authorization": f"Bearer {key}", "anthropic-version": "2023-06-01"}
    with live.http(headers=headers) as http:
        answer = http.post(path, json=body)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["id"])


def explained(
    live: Live, log: Path, capsys: Any, rows: list[tuple[str, Body, str]], key: str = "anything"
) -> dict[str, Any]:
    """What `explain` says of the last of these."""
    lines = [
        json.dumps({"url": f"{live.url}{path}", "body": body, "tenant": tenant})
        for path, body, tenant in rows
    ]
    log.write_text("\n".join(lines))
    given = Given(str(log), id=str(len(rows)), url=live.url, api_key=key, form="json")
    status = main(given)
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert status == (1 if found["outcome"] == "lost" else 0)
    return found


def agree(found: dict[str, Any], report: dict[str, Any]) -> None:
    place, hits = found["place"], found["hits"]
    assert hits["prompt_tokens"] == report["prompt_tokens"]
    assert hits["plain"]["tokens"] == report["cached_tokens"]
    assert hits["plain"]["reason"] == report["reason"]
    assert hits["plain"]["namespace_fields"] == report["fields"]
    if place is not None:
        assert place["token"] == report["at"]
        assert place["rendered_message"] == report["message"]
        assert place["how"] == "measured"


@pytest.mark.parametrize("path", DIALECTS)
@pytest.mark.parametrize("kind", KINDS)
def test_place_and_reason_are_those_of_the_servers_own_report(
    live: Live, tmp_path: Path, capsys: Any, path: str, kind: str
) -> None:
    pair, cause = KINDS[kind]
    bodies = pair(DIALECTS[path])
    assert live.post("/cache/reset").status_code == 200
    _, second = (send(live, path, body) for body in bodies)
    report = live.get(f"/cache/explain/{second}").json()
    found = explained(live, tmp_path / "log", capsys, [(path, body, "") for body in bodies])
    agree(found, report)
    named = None if found["cause"] is None else found["cause"]["name"]
    assert named == cause
    if cause is not None and cause is not Cause.TOOL_ORDER:
        # Of the body's messages; the template is given the system prompt as the first.
        shift = 1 if path == "/v1/messages" else 0
        message = found["place"]["message"]
        assert (-1 if message is None else message) + shift == report["message"]


@pytest.mark.parametrize(
    ("path", "cause"), [("/v1/chat/completions", Cause.CLIENT_LINE), ("/v1/messages", None)]
)
def test_claude_codes_own_line_breaks_a_prompt_where_the_server_reads_it_as_text(
    live: Live, tmp_path: Path, capsys: Any, path: str, cause: Cause | None
) -> None:
    line = "x-anthropic-billing-header: cc_version=2.1.177.01c; cc_entrypoint=cli; cch="
    asked = (("36ee5;", TURNS[:1]), ("0aaa9;", TURNS[2:]))
    bodies = [DIALECTS[path](f"{line}{hashes}\n{RULES}", turns) for hashes, turns in asked]
    assert live.post("/cache/reset").status_code == 200
    _, second = (send(live, path, body) for body in bodies)
    found = explained(live, tmp_path / "log", capsys, [(path, body, "") for body in bodies])
    agree(found, live.get(f"/cache/explain/{second}").json())
    assert (None if found["cause"] is None else found["cause"]["name"]) == cause


@pytest.mark.parametrize(
    ("path", "vendor"), [("/v1/chat/completions", "engine"), ("/v1/messages", "anthropic")]
)
def test_what_is_read_is_what_the_servers_own_answer_bills(
    live: Live, tmp_path: Path, capsys: Any, path: str, vendor: str
) -> None:
    """Its own model is under no vendor's minimum, except where a vendor's dialect asks."""
    bodies = [DIALECTS[path](RULES, turns) for turns in (TURNS[:1], TURNS)]
    assert live.post("/cache/reset").status_code == 200
    with live.http(headers={"anthropic-version": "2023-06-01"}) as http:
        *_, usage = [http.post(path, json=body).json()["usage"] for body in bodies]
    found = explained(live, tmp_path / "log", capsys, [(path, body, "") for body in bodies])
    read = usage.get("cache_read_input_tokens")
    read = usage["prompt_tokens_details"]["cached_tokens"] if read is None else read
    assert (read > 0) == (vendor == "engine")
    assert found["hits"]["contract"]["read"] == read
    assert found["request"]["vendor"] == vendor


def test_a_turn_that_goes_on_from_the_answer_has_the_answer_in_common_too(
    live: Live, tmp_path: Path, capsys: Any
) -> None:
    path = "/v1/chat/completions"
    word = live.codec.encode("x")[0]  # What a random model says may not come back the same.
    first = chat(RULES, TURNS[:1], max_tokens=12, logit_bias={str(word): 100})
    answer = live.post(path, **first).json()
    said = answer["choices"][0]["message"]["content"]
    second = chat(RULES, (TURNS[0], said, TURNS[2]))
    report = live.get(f"/cache/explain/{send(live, path, second)}").json()
    log = tmp_path / "log"
    rows = [{"url": path, "body": first, "usage": answer["usage"]}, {"url": path, "body": second}]
    log.write_text("\n".join(map(json.dumps, rows)))
    assert main(Given(str(log), url=live.url, form="json")) == 0
    agree(json.loads(capsys.readouterr().out), report)
    assert report["at"] == answer["usage"]["total_tokens"] - 1


def test_another_model_and_another_name_of_the_same(
    start_real: Any, tiny_checkpoint: Any, tiny_adapter: Any, tmp_path: Path, capsys: Any
) -> None:
    adapter = tiny_adapter(tiny_checkpoint("llama"), seed=1)
    live = start_real(loras=(("sql", str(adapter)),), aliases=(("openai", "gpt-6-sol"),))
    path = "/v1/chat/completions"
    for name, reason in (("sql", "other_namespace"), ("gpt-6-sol", "capped")):
        assert live.post("/cache/reset").status_code == 200
        bodies = chat(RULES), chat(RULES, model=name)
        _, second = (send(live, path, body) for body in bodies)
        report = live.get(f"/cache/explain/{second}").json()
        found = explained(live, tmp_path / "log", capsys, [(path, body, "") for body in bodies])
        assert report["reason"] == reason
        agree(found, report)
        assert found["cause"]["name"] == Cause.MODEL
        assert found["place"]["pointer"] == "/model"


def test_another_tenant_and_another_salt(start_real: Any, tmp_path: Path, capsys: Any) -> None:
    keys = tmp_path / "keys"
    keys.write_text("ka alice\nkb bob\n")
    live = start_real(api_keys_file=str(keys))
    path = "/v1/chat/completions"
    body, salted = chat(RULES), chat(RULES, cache_salt="pepper")
    send(live, path, body, "ka")
    second, third = send(live, path, body, "kb"), send(live, path, salted, "kb")
    rows = [(path, body, "alice"), (path, body, "bob"), (path, salted, "bob")]
    for count, answer, reason in ((2, second, "never_seen"), (3, third, "other_namespace")):
        report = live.get(f"/cache/explain/{answer}", "kb").json()
        assert report["reason"] == reason
        agree(explained(live, tmp_path / "log", capsys, rows[:count], "kb"), report)
