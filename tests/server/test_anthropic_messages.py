"""Anthropic's official client, unmodified, against the real engine."""

from collections.abc import Callable, Iterator
from typing import Any

import anthropic
import httpx2
import pytest
from anthropic.types import Message, ToolUseBlock

OLD = "2023-06-01"
GREEDY: dict[str, Any] = {
    "extra_headers": {"anthropic-version": OLD},
    "extra_body": {"temperature": 0},
}
"""The new version has no temperature."""
HELLO: Any = [{"role": "user", "content": "Hello, who are you?"}]
ASK: dict[str, Any] = {"model": "tiny", "max_tokens": 12, "messages": HELLO}
ENDS = ("end_turn", "max_tokens")
"""How a drawn answer may end."""
WEATHER: Any = {
    "name": "weather",
    "description": 'The "weather" of a city.',
    "input_schema": {
        "type": "object",
        "properties": {"city": {"enum": ["Paris", "Zürich"]}, "days": {"enum": [1, 2]}},
        "required": ["city", "days"],
        "additionalProperties": False,
    },
}


def text_of(message: Message) -> str:
    return "".join(block.text for block in message.content if block.type == "text")


def test_a_message_and_its_stream_are_the_same_text(live: Any) -> None:
    client = live.anthropic()
    whole = client.messages.create(**ASK, **GREEDY)
    with client.messages.stream(**ASK, **GREEDY) as stream:
        told = "".join(stream.text_stream)
        final = stream.get_final_message()
    assert told == text_of(final) == text_of(whole) != ""
    assert final.stop_reason == whole.stop_reason == "max_tokens"
    assert final.usage.output_tokens == whole.usage.output_tokens == 12
    assert whole.id.startswith("msg_")
    assert whole.id != final.id


def test_both_authorizations_and_the_beta_path_work(live: Any) -> None:
    body = ASK | {"max_tokens": 1}
    with live.http() as http:
        for path in ("/v1/messages", "/v1/messages?beta=true"):
            for header in ({"authorization": "Bearer k"}, {"x-api-key": "k"}):
                for version in ("2023-06-01", "2026-10-21"):
                    headers = {"anthropic-version": version} | header
                    assert http.post(path, json=body, headers=headers).status_code == 200
    beta = live.anthropic().beta.messages.create(**body)
    assert beta.stop_reason in ENDS


def test_a_stop_sequence_is_named_and_not_shown(live: Any) -> None:
    client = live.anthropic()
    text = text_of(client.messages.create(**ASK, **GREEDY))
    stop = next(piece for piece in (text[4:6], text[3:7]) if piece.strip())
    stopped = client.messages.create(**ASK, **GREEDY, stop_sequences=["never", stop])
    assert (stopped.stop_reason, stopped.stop_sequence) == ("stop_sequence", stop)
    assert text_of(stopped) == text[: text.index(stop)]
    with client.messages.stream(**ASK, **GREEDY, stop_sequences=[stop]) as stream:
        assert stream.get_final_message().stop_sequence == stop


@pytest.mark.parametrize("streamed", [False, True])
def test_a_tool_is_called_and_its_result_goes_back(live: Any, streamed: bool) -> None:
    client = live.anthropic()
    asked: dict[str, Any] = {"model": "tiny", "max_tokens": 200, "tools": [WEATHER]}
    forced: Any = {
        "tool_choice": {"type": "tool", "name": "weather", "disable_parallel_tool_use": True}
    }
    if streamed:
        with client.messages.stream(**asked, **forced, messages=HELLO) as stream:
            message = stream.get_final_message()
    else:
        message = client.messages.create(**asked, **forced, messages=HELLO)
    assert message.stop_reason == "tool_use"
    (call,) = message.content
    assert isinstance(call, ToolUseBlock)
    assert call.input["city"] in ("Paris", "Zürich")
    assert call.input["days"] in (1, 2)
    result = {"type": "tool_result", "tool_use_id": call.id, "content": "Rain."}
    history = [
        *HELLO,
        {"role": "assistant", "content": message.content},
        {"role": "user", "content": [result]},
    ]
    raw = client.messages.with_raw_response.create(
        model="tiny", max_tokens=3, tools=[WEATHER], tool_choice={"type": "none"}, messages=history
    )
    answer = raw.parse()
    assert answer.stop_reason in ENDS
    assert all(block.type == "text" for block in answer.content)
    # TURN-05: the call comes back as JSON and is rendered as it was generated.
    reused = int(raw.headers["x-headstart-cache"].split(";")[0].removeprefix("hit="))
    before = message.usage
    assert before.cache_read_input_tokens is not None
    prompt = before.input_tokens + before.cache_read_input_tokens
    assert reused >= prompt + before.output_tokens - 1


def test_a_call_that_max_tokens_cuts_has_what_is_whole_of_its_input(live: Any) -> None:
    client = live.anthropic()
    forced: dict[str, Any] = {
        "model": "tiny",
        "messages": HELLO,
        "tools": [WEATHER],
        "tool_choice": {"type": "tool", "name": "weather", "disable_parallel_tool_use": True},
        **GREEDY,
    }
    whole = client.messages.create(**forced, max_tokens=200)
    seen = set()
    for tokens in range(whole.usage.output_tokens - 24, whole.usage.output_tokens, 3):
        message = client.messages.create(**forced, max_tokens=tokens)
        (call,) = message.content
        assert (message.stop_reason, call.name) == ("max_tokens", "weather")
        assert call.input.items() <= whole.content[0].input.items()
        seen.add(len(call.input))
        with client.messages.stream(**forced, max_tokens=tokens) as stream:
            final = stream.get_final_message()
        assert (final.stop_reason, final.content[0].input) == ("max_tokens", call.input)
    assert seen == {0, 1, 2}


def test_a_schema_shapes_the_answer(live: Any) -> None:
    schema = WEATHER["input_schema"]
    config: Any = {"format": {"type": "json_schema", "schema": schema}}
    message = live.anthropic().messages.create(**ASK | {"max_tokens": 100}, output_config=config)
    assert '"city"' in text_of(message)


def test_what_does_not_fit_is_cut_and_told_as_newer_models_do(live: Any) -> None:
    client = live.anthropic()
    asked: Any = {"model": "tiny", "messages": [{"role": "user", "content": "a " * 970}]}
    room = 1024 - client.messages.count_tokens(**asked).input_tokens
    assert 1 < room < 60
    message = client.messages.create(**asked, max_tokens=20_000, **GREEDY)
    assert message.stop_reason == "model_context_window_exceeded"
    assert message.usage.output_tokens == room
    exact = client.messages.create(**asked, max_tokens=room, **GREEDY)
    assert exact.stop_reason == "max_tokens"


def test_counting_says_what_a_message_is_billed_and_computes_nothing(live: Any) -> None:
    client = live.anthropic()
    asked: Any = {
        "model": "tiny",
        "system": [{"type": "text", "text": "Be brief."}],
        "tools": [WEATHER],
        "messages": HELLO,
    }
    before = live.engine.stats()
    counted = client.messages.count_tokens(**asked).input_tokens
    after = live.engine.stats()
    assert (after.prefill_tokens, after.cache) == (before.prefill_tokens, before.cache)
    usage = client.messages.create(**asked, max_tokens=1).usage
    billed = usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens
    assert counted == billed


def test_two_requests_of_claude_code_share_what_comes_behind_its_billing_line(live: Any) -> None:
    """anthropics/claude-code#68900: elsewhere nothing behind the hashes is read again."""
    rules = " ".join(f"Rule {n}: answer question {n} briefly." for n in range(40))

    def hit(hashes: str) -> tuple[str | None, int]:
        line = f"x-anthropic-billing-header: cc_version=2.1.177.{hashes}; cch={hashes};"
        system: Any = [{"type": "text", "text": said} for said in (line, rules)]
        answer = live.anthropic().messages.with_raw_response.create(**ASK | {"system": system})
        return answer.headers["x-headstart-cache"], answer.parse().usage.input_tokens

    (_, tokens), (second, _) = hit("36e"), hit("0aa")
    assert second == f"hit={tokens - 1}; reason=capped"


def test_the_list_of_models_has_pages(start_real: Any) -> None:
    names = [f"claude-{letter}" for letter in "abc"]
    live = start_real(aliases=tuple(("anthropic", name) for name in names))
    client = live.anthropic()
    assert [each.id for each in client.models.list(limit=2)] == ["tiny", *names]
    page = client.models.list(limit=2, before_id="claude-c")
    assert [each.id for each in page.data] == ["claude-a", "claude-b"]
    assert page.has_more
    assert client.models.retrieve("claude-b").id == "claude-b"
    assert client.models.list(lifecycle=["retired"]).data == []
    with pytest.raises(anthropic.NotFoundError):
        client.models.retrieve("claude-z")
    assert [each.id for each in live.client().models.list()] == ["tiny", *names]


def test_leaving_a_stream_cancels_it(live: Any, eventually: Callable[..., None]) -> None:
    with live.anthropic().messages.stream(**ASK | {"max_tokens": 900}) as stream:
        next(iter(stream))
    eventually(lambda: live.engine.stats().running + live.engine.stats().waiting == 0)
    assert live.engine.stats().cache.used_tokens == 0
    live.engine.audit()


def refusal(call: Callable[[], Any], kind: type[anthropic.APIStatusError]) -> Any:
    with pytest.raises(kind) as caught:
        call()
    error = caught.value
    assert error.request_id
    assert error.body["request_id"] == error.request_id
    return error


def test_refusals_are_the_sdks_typed_errors(live: Any) -> None:
    create = live.anthropic().messages.create
    bad = refusal(lambda: create(**ASK, **{"extra_body": {"foo": 1}}), anthropic.BadRequestError)
    assert (bad.type, bad.api_message) == (
        "invalid_request_error",
        "foo: Extra inputs are not permitted",
    )
    unknown = refusal(lambda: create(**ASK | {"model": "claude-9"}), anthropic.NotFoundError)
    assert unknown.type == "not_found_error"
    long = [{"role": "user", "content": "a " * 3000}]
    too_long = refusal(lambda: create(**ASK | {"messages": long}), anthropic.BadRequestError)
    assert too_long.api_message.startswith("prompt is too long: ")
    assert too_long.api_message.endswith(" tokens > 1024 maximum")


def test_a_wrong_key_a_large_body_and_a_full_queue(start_real: Any) -> None:
    closed = start_real(api_key="right", max_waiting=0, max_body_bytes=5000)
    wrong = closed.anthropic("wrong").messages.create
    assert refusal(lambda: wrong(**ASK), anthropic.AuthenticationError).type == (
        "authentication_error"
    )
    right = closed.anthropic("right").messages.create
    large = ASK | {"system": "a" * 6000}
    assert refusal(lambda: right(**large), anthropic.APIStatusError).status_code == 413
    full = refusal(lambda: right(**ASK), anthropic.RateLimitError)
    assert full.type == "rate_limit_error"
    assert int(full.response.headers["retry-after"]) >= 1


def test_unknown_paths_and_methods_stay_in_the_envelope(live: Any) -> None:
    with live.http(headers={"anthropic-version": OLD}) as http:
        unknown, wrong = http.get("/v1/chatter"), http.get("/v1/messages")
    assert (unknown.status_code, unknown.json()["error"]["type"]) == (404, "not_found_error")
    assert (wrong.status_code, wrong.json()["error"]["type"]) == (405, "invalid_request_error")
    with live.http() as http:
        bare = http.post("/v1/messages", json=ASK)
    assert bare.json()["error"]["message"] == "anthropic-version: header is required"


@pytest.fixture
def unsteady(live: Any) -> Iterator[tuple[anthropic.Anthropic, list[int]]]:
    """A client that retries, and the statuses it was told."""
    statuses: list[int] = []

    def note(response: httpx2.Response) -> None:
        statuses.append(response.status_code)

    with httpx2.Client(event_hooks={"response": [note]}) as http:
        yield (
            anthropic.Anthropic(base_url=live.url, api_key="k", max_retries=1, http_client=http),
            statuses,
        )


def test_a_client_does_not_retry_what_can_never_work(unsteady: Any) -> None:
    client, statuses = unsteady
    with pytest.raises(anthropic.NotFoundError):
        client.messages.create(**ASK | {"model": "claude-9"})
    assert statuses == [404]
