"""Recorded bodies of requests: JSON lines of chat or completion requests, or of token ids.

A line is a body, or an object with a body under `body` (as batch files have it). Beside it may
stand `timestamp` or `time` (seconds), `session`, `tenant`, `salt` and `adapter` (requests that
differ in one share nothing), and of the answer: `output` (token ids), `stop`. The log of
`headstart serve --request-log` has all of them, and the prompt's `tokens`.

- `tokens`, or `prompt` as a list of ids: exact.
- text, with a tokenizer: the text's ids are exact; the model's chat template is unknown, so roles
  are written as plain words, and lengths are estimates.
- text without a tokenizer: four bytes of UTF-8 are one token. What prompts share is exact to four
  bytes, lengths are estimates.
"""

import json
from array import array
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from headstart.insight.replay.clock import Assumed
from headstart.insight.replay.lines import Lines, Moved, TraceError, decoded, nobody
from headstart.insight.replay.request import LONGEST_TIME, Request

Encode = Callable[[str], Sequence[int]]
BYTES_PER_TOKEN = 4


def by_bytes(text: str) -> Sequence[int]:
    """The default rule: four bytes are a token."""
    data = text.encode("utf-8", "surrogatepass")
    return array("I", data + bytes(-len(data) % BYTES_PER_TOKEN))


def by_tokenizer(path: Path) -> Encode:
    """The ids of a tokenizer.json. Raises TraceError."""
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # The library raises nothing more exact.
        raise TraceError(f"{path} is no tokenizer.json: {error}") from None
    return lambda text: tokenizer.encode(text, add_special_tokens=False).ids


def read_bodies(
    path: Path,
    encode: Encode = by_bytes,
    *,
    clock: Assumed | None = None,
    moved: Moved = nobody,
    end: int | None = None,
) -> Iterator[Request]:
    """The requests in their order. Raises TraceError.

    `clock`: of those without a time; `end`: bytes behind which nothing is read.
    """
    clock = Assumed() if clock is None else clock
    for number, line in Lines(path, moved, end):
        outer = decoded(path, number, line, dict[str, Any])
        body = outer.get("body", outer)
        try:
            tokens = _tokens(outer, body, encode)
            answer = array("I", outer.get("output") or ())
            recorded = given_time(outer)
            time = clock.at(None if recorded is None else _moment(recorded))
            gap = outer.get("expected_gap")
            hints = bool(outer.get("ended")), None if gap is None else _moment(gap)
            space, session = _space(outer, body), _session(outer, body)
        except (TypeError, ValueError, OverflowError, AttributeError) as error:
            raise TraceError(f"{path.name}:{number}: no request: {error}") from None
        yield Request(
            time_s=time,
            session=session,
            turn=None,
            stop=outer.get("stop"),
            blocks=tokens,
            prompt_tokens=len(tokens),
            output_tokens=len(answer),
            block_tokens=1,
            answer=answer[:-1],  # The last token that is sampled is never computed.
            space=space,
            ended=hints[0],
            expected_gap=hints[1],
        )


def _moment(given: Any) -> float:
    """Seconds. Raises TypeError or ValueError."""
    seconds = float(given)
    if not abs(seconds) <= LONGEST_TIME:
        raise ValueError(f"{given} is no time")
    return seconds


def given_prompt(outer: dict[str, Any], body: dict[str, Any]) -> Any:
    """The ids or the text of a prompt; None where it is in messages."""
    return outer.get("tokens", body.get("tokens", body.get("prompt")))


def given_time(outer: dict[str, Any]) -> Any:
    """As the line has it; None where it has none."""
    return outer.get("timestamp", outer.get("time"))


def _space(outer: dict[str, Any], body: dict[str, Any]) -> str:
    tenant, adapter = outer.get("tenant") or "", outer.get("adapter")
    salt = outer.get("salt", body.get("cache_salt"))
    default = tenant == "" and salt is None and adapter is None
    return "" if default else json.dumps([tenant, salt, adapter])


def _session(outer: dict[str, Any], body: dict[str, Any]) -> str | None:
    """Tenants may call theirs the same."""
    session, tenant = outer.get("session", body.get("prompt_cache_key")), outer.get("tenant")
    if session is None:
        return None
    return json.dumps([tenant, session]) if tenant else str(session)


def _tokens(outer: dict[str, Any], body: dict[str, Any], encode: Encode) -> "array[int]":
    given = given_prompt(outer, body)
    if isinstance(given, list) and all(isinstance(each, int) for each in given):
        return array("I", given)
    if isinstance(given, str):
        return array("I", encode(given))
    return array("I", encode(_chat_text(body)))


def _chat_text(body: dict[str, Any]) -> str:
    """What the model reads, as far as a body tells: tools first, then the turns."""
    messages = body.get("messages", body.get("input"))
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    if not isinstance(messages, list) or not messages:
        raise ValueError("neither tokens, prompt nor messages")
    parts = [
        _plain(body[name]) + "\n" for name in ("tools", "system", "instructions") if body.get(name)
    ]
    parts += [f"{each.get('role', '')}\n{_content(each)}\n" for each in messages]
    return "".join(parts)


def _content(message: dict[str, Any]) -> str:
    content = message.get("content")
    rest = {k: v for k, v in message.items() if k not in ("role", "content") and v is not None}
    return (content if isinstance(content, str) else _plain(content)) + (
        _plain(rest) if rest else ""
    )


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
