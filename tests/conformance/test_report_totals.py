"""`headstart report` on a server's ledger and on the bodies and answers recorded beside it."""

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.conftest import Serve
from tests.server.conftest import Live

from headstart.insight.report.document import Document
from headstart.insight.report.main import Given, report
from headstart.insight.report.sums import Sums
from headstart.ledger import LedgerError
from headstart.ledger import report as ledger_report

OPUS, GPT, DEEPSEEK = "claude-opus-5", "gpt-5.6", "deepseek-chat"
DAY = date(2026, 11, 30)


class Recorder:
    """Asks over HTTP and keeps what was asked and answered, a line each."""

    def __init__(self, live: Live, path: Path) -> None:
        self._http = live.http()
        self._path = path
        self._number = 0

    def ask(self, path: str, body: dict[str, Any]) -> Any:
        headers = {"authorization": "Bearer x", "x-api-key": "x", "anthropic-version": "2023-06-01"}
        answer = self._http.post(path, json=body, headers=headers)
        assert answer.status_code == 200, answer.text
        said = _events(answer.text) if body.get("stream") else answer.json()
        self._number += 1
        line = {
            "id": f"r{self._number}",
            "time": 1_800_000_000 + self._number,
            "path": path,
            "body": body,
            "response": said,
        }
        with self._path.open("a") as file:
            file.write(json.dumps(line) + "\n")
        return said


def _events(text: str) -> list[Any]:
    data = (line[6:] for line in text.splitlines() if line.startswith("data: "))
    return [json.loads(each) for each in data if each != "[DONE]"]


def claude(*turns: str, ttl: str = "5m", **more: Any) -> dict[str, Any]:
    control = {"type": "ephemeral", "ttl": ttl}
    messages: list[Any] = [
        {"role": "user" if n % 2 == 0 else "assistant", "content": said}
        for n, said in enumerate(turns)
    ]
    system = [{"type": "text", "text": f"Rules {ttl}. " + "~" * 600, "cache_control": control}]
    body = {"model": OPUS, "max_tokens": 3, "system": system, "messages": messages}
    return body | {"temperature": 0} | more


def chat(model: str, name: str, *questions: str, **more: Any) -> dict[str, Any]:
    messages = [{"role": "system", "content": f"{name} " + "~" * 1200}]
    messages += [{"role": "user", "content": each} for each in questions]
    return {"model": model, "max_tokens": 3, "temperature": 0, "messages": messages} | more


def traffic(recorder: Recorder) -> None:
    streamed = {"stream": True, "stream_options": {"include_usage": True}}
    for question in ("one", "two"):
        recorder.ask("/v1/messages", claude(question))
        recorder.ask("/v1/messages", claude(question, ttl="1h", stream=True))
        recorder.ask("/v1/chat/completions", chat("tiny", "plain", question))
        recorder.ask("/v1/chat/completions", chat("tiny", "streamed", question, **streamed))
        recorder.ask("/v1/chat/completions", chat(GPT, "marked", question))
        recorder.ask("/v1/chat/completions", chat("tiny", "several", question, n=2))
        recorder.ask("/chat/completions", chat(DEEPSEEK, "hits", question))
        recorder.ask(
            "/v1/responses",
            {"model": GPT, "input": "~" * 1300 + question, "max_output_tokens": 16},
        )
    recorder.ask("/v1/completions", {"model": "tiny", "prompt": ["a b", "a b"], "max_tokens": 2})


def told(sums: Sums) -> tuple[Any, ...]:
    return (sums.prompt, sums.read, {k: v for k, v in sums.written.items() if v}, sums.output)


@pytest.mark.slow
def test_the_ledger_and_the_recorded_bodies_have_the_same_totals_to_the_token(
    serve: Serve, tmp_path: Path, eventually: Callable[..., None]
) -> None:
    database, log, own = (tmp_path / name for name in ("ledger.db", "log.jsonl", "own.jsonl"))
    served = serve(
        aliases=(("anthropic", OPUS), ("openai", GPT), ("deepseek", DEEPSEEK)),
        ledger=str(database),
        request_log=str(own),
    )
    traffic(Recorder(served.live, log))
    eventually(lambda: _kept(database) == 17)
    eventually(lambda: own.exists() and own.read_text().count('"account":') == 17)

    of_ledger, *others = (_told(path) for path in (database, log, own))
    for found in others:
        assert {name: told(sums) for name, sums in found.groups} == {
            name: told(sums) for name, sums in of_ledger.groups
        }
        assert told(found.total) == told(of_ledger.total)
    # What is compared is all there: reads, and writes of every lifetime that was asked for.
    assert of_ledger.total.read > 5_000
    assert {"5m", "1h", "30m"} <= {name for name, n in of_ledger.total.written.items() if n}


def _kept(database: Path) -> int:
    try:
        return ledger_report(database).total.requests
    except LedgerError:  # It isn't there yet, or nothing is in it.
        return 0


def _told(path: Path) -> Document:
    found, troubles = report(Given([str(path)]), today=DAY)
    assert not troubles
    return found
