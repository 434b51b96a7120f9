"""Chat completions through the official client, on the real engine."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from headstart.text.chat import Conversation, Message

HELLO: Any = [{"role": "user", "content": "Hello, who are you?"}]
GREEDY: dict[str, Any] = {"temperature": 0, "extra_body": {"ignore_eos": True}}
WEATHER: Any = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "The weather of a city.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"enum": ["Paris", "Zürich"]}, "days": {"enum": [1, 2]}},
            "required": ["city", "days"],
            "additionalProperties": False,
        },
    },
}
TIME: Any = {"type": "function", "function": {"name": "time"}}


def ask(live: Any, messages: Any = HELLO, **fields: Any) -> ChatCompletion:
    response = live.client().chat.completions.create(model="tiny", messages=messages, **fields)
    assert isinstance(response, ChatCompletion)
    return response


def stream(live: Any, messages: Any = HELLO, **fields: Any) -> list[ChatCompletionChunk]:
    return list(
        live.client().chat.completions.create(
            model="tiny", messages=messages, stream=True, **fields
        )
    )


def text_of(chunks: list[ChatCompletionChunk], index: int = 0) -> str:
    return "".join(
        choice.delta.content or ""
        for chunk in chunks
        for choice in chunk.choices
        if choice.index == index
    )


def test_a_prompt_costs_what_the_template_renders(live: Any) -> None:
    usage = ask(live, max_tokens=3, **GREEDY).usage
    conversation = Conversation((Message("user", HELLO[0]["content"]),))
    assert usage is not None
    assert usage.prompt_tokens == len(live.codec.encode_chat(conversation))
    assert usage.completion_tokens == 3
    assert usage.total_tokens == usage.prompt_tokens + 3


def test_the_second_request_reuses_all_but_the_last_token(
    live: Any, words: Callable[..., Any]
) -> None:
    messages = words("reuse", 60)
    # What the salt keeps out: every chat begins with the template's own tokens.
    salted = {"temperature": 0, "extra_body": {"cache_salt": "reuse"}}
    first, second = (ask(live, messages, max_tokens=2, **salted).usage for _ in range(2))
    assert first is not None
    assert second is not None
    assert first.prompt_tokens_details is not None
    assert second.prompt_tokens_details is not None
    assert first.prompt_tokens_details.cached_tokens == 0
    assert second.prompt_tokens_details.cached_tokens == second.prompt_tokens - 1


def test_the_streamed_text_is_the_whole_text(live: Any) -> None:
    whole = ask(live, max_tokens=30, **GREEDY)
    chunks = stream(live, max_tokens=30, **GREEDY)
    assert text_of(chunks) == whole.choices[0].message.content
    assert chunks[0].choices[0].delta.role == "assistant"
    assert [c.choices[0].finish_reason for c in chunks][-1] == whole.choices[0].finish_reason
    assert len({chunk.id for chunk in chunks}) == 1


def test_usage_ends_a_stream_only_when_asked_for(live: Any, words: Callable[..., Any]) -> None:
    messages = words("usage", 40)
    options = {"include_usage": True}
    plain = stream(live, messages, max_tokens=4, **GREEDY)
    asked = stream(live, messages, max_tokens=4, stream_options=options, **GREEDY)
    assert all(chunk.usage is None for chunk in plain)
    assert all(chunk.choices for chunk in plain)
    *before, last = asked
    assert all(chunk.usage is None for chunk in before)
    assert last.choices == []
    whole = ask(live, messages, max_tokens=4, **GREEDY).usage
    assert last.usage == whole
    assert whole is not None
    assert whole.prompt_tokens_details is not None
    assert whole.prompt_tokens_details.cached_tokens


def test_max_tokens_ends_with_length(live: Any) -> None:
    for name in ("max_tokens", "max_completion_tokens"):
        response = ask(live, **{name: 1}, **GREEDY)
        assert response.choices[0].finish_reason == "length"
        assert response.usage is not None
        assert response.usage.completion_tokens == 1


def test_a_stop_string_cuts_before_itself(live: Any) -> None:
    free = ask(live, max_tokens=40, **GREEDY).choices[0].message.content or ""
    middle = len(free) // 2
    stop = free[middle : middle + 3]
    for response in (
        ask(live, max_tokens=40, stop=stop, **GREEDY).choices[0].message.content,
        text_of(stream(live, max_tokens=40, stop=["\0never", stop], **GREEDY)),
    ):
        assert response == free[: free.index(stop)]


def test_n_choices_come_apart_by_index(live: Any) -> None:
    whole = ask(live, n=3, max_tokens=8, temperature=1, seed=5, extra_body={"ignore_eos": True})
    assert [choice.index for choice in whole.choices] == [0, 1, 2]
    assert len({choice.message.content for choice in whole.choices}) > 1
    assert whole.usage is not None
    assert whole.usage.completion_tokens == 24
    chunks = stream(live, n=3, max_tokens=8, temperature=1, seed=5, extra_body={"ignore_eos": True})
    for choice in whole.choices:
        assert text_of(chunks, choice.index) == choice.message.content


def test_a_seed_fixes_the_answer_and_another_changes_it(live: Any) -> None:
    def answer(seed: int) -> str | None:
        fields = {"max_tokens": 12, "temperature": 1.5, "extra_body": {"ignore_eos": True}}
        return ask(live, seed=seed, **fields).choices[0].message.content

    assert answer(1) == answer(1)
    assert answer(1) != answer(2)


def test_logprobs_tell_of_every_token_and_the_likeliest_is_chosen(live: Any) -> None:
    response = ask(live, max_tokens=6, logprobs=True, top_logprobs=3, **GREEDY)
    choice = response.choices[0]
    assert choice.logprobs is not None
    assert choice.logprobs.content is not None
    assert len(choice.logprobs.content) == 6
    for token in choice.logprobs.content:
        assert len(token.top_logprobs) == 3
        assert token.top_logprobs[0].logprob == token.logprob
        assert token.top_logprobs[0].bytes == token.bytes
        assert token.logprob <= 0
    data = b"".join(bytes(token.bytes or []) for token in choice.logprobs.content)
    assert data.decode(errors="replace") == choice.message.content


def test_streamed_logprobs_are_the_whole_ones(live: Any) -> None:
    fields = {"max_tokens": 6, "logprobs": True, "top_logprobs": 1, **GREEDY}
    whole = ask(live, **fields).choices[0].logprobs
    parts = [
        token
        for chunk in stream(live, **fields)
        for choice in chunk.choices
        if choice.logprobs
        for token in choice.logprobs.content or []
    ]
    assert whole is not None
    assert parts == whole.content


def test_without_logprobs_none_are_sent(live: Any) -> None:
    assert ask(live, max_tokens=2, **GREEDY).choices[0].logprobs is None
    assert all(c.choices[0].logprobs is None for c in stream(live, max_tokens=2, **GREEDY))


def test_the_end_token_is_paid_for_but_no_part_of_the_answer(live: Any) -> None:
    (end,) = live.codec.encode("<|im_end|>")
    response = ask(live, max_tokens=5, logprobs=True, logit_bias={str(end): 100}, temperature=0)
    choice = response.choices[0]
    assert choice.finish_reason == "stop"
    assert choice.message.content == ""
    assert choice.logprobs is not None
    assert choice.logprobs.content == []
    assert response.usage is not None
    assert response.usage.completion_tokens == 1


def test_a_logit_bias_forces_a_token(live: Any) -> None:
    (letter,) = live.codec.encode("Z")
    response = ask(live, max_tokens=4, logit_bias={str(letter): 100}, temperature=0)
    assert response.choices[0].message.content == "ZZZZ"


@pytest.mark.parametrize("parallel", [True, False])
def test_a_required_call_is_valid_whatever_the_model(live: Any, parallel: bool) -> None:
    response = ask(
        live,
        tools=[WEATHER],
        tool_choice="required",
        parallel_tool_calls=parallel,
        temperature=1,
        seed=3,
        max_tokens=500,
    )
    choice = response.choices[0]
    assert choice.message.tool_calls
    if not parallel:
        assert len(choice.message.tool_calls) == 1
        assert choice.finish_reason == "tool_calls"
    for call in choice.message.tool_calls:
        assert call.type == "function"
        assert call.function.name == "weather"
        arguments = json.loads(call.function.arguments)
        assert arguments["city"] in ("Paris", "Zürich")
        assert arguments["days"] in (1, 2)


def test_a_named_call_calls_that_tool_also_as_a_stream(live: Any) -> None:
    chunks = stream(
        live,
        tools=[TIME, WEATHER],
        tool_choice={"type": "function", "function": {"name": "weather"}},
        parallel_tool_calls=False,
        temperature=0,
        max_tokens=400,
    )
    calls = [call for c in chunks for d in c.choices for call in d.delta.tool_calls or []]
    assert calls[0].id
    assert calls[0].function is not None
    assert (calls[0].index, calls[0].function.name, calls[0].type) == (0, "weather", "function")
    assert all(call.id is None for call in calls[1:])
    text = "".join(call.function.arguments or "" for call in calls if call.function)
    assert set(json.loads(text)) == {"city", "days"}
    assert chunks[-1].choices[0].finish_reason == "tool_calls"


def test_a_call_that_max_tokens_cuts_has_the_beginning_of_its_arguments(live: Any) -> None:
    forced: dict[str, Any] = {
        "tools": [WEATHER],
        "tool_choice": "required",
        "parallel_tool_calls": False,
        "temperature": 0,
    }
    response = ask(live, **forced, max_tokens=400)
    (whole,) = response.choices[0].message.tool_calls or []
    assert response.usage is not None
    for tokens in range(
        response.usage.completion_tokens - 24, response.usage.completion_tokens, 12
    ):
        choice = ask(live, **forced, max_tokens=tokens).choices[0]
        (call,) = choice.message.tool_calls or []
        assert (choice.finish_reason, choice.message.content) == ("length", None)
        assert call.function.name == "weather"
        there = call.function.arguments.rstrip("\ufffd")  # Half a character is shown like this.
        assert whole.function.arguments.startswith(there)
        chunks = stream(live, **forced, max_tokens=tokens)
        deltas = [each for c in chunks for d in c.choices for each in d.delta.tool_calls or []]
        assert "".join(each.function.arguments for each in deltas) == call.function.arguments
        assert chunks[-1].choices[0].finish_reason == "length"
        result = {"role": "tool", "tool_call_id": call.id, "content": "Cut."}
        history = [*HELLO, choice.message.model_dump(exclude_none=True), result]
        usage = ask(live, history, tools=[WEATHER], max_tokens=1, temperature=0).usage
        assert usage is not None
        assert usage.prompt_tokens_details is not None
        assert usage.prompt_tokens_details.cached_tokens >= response.usage.prompt_tokens


def test_with_tool_choice_none_the_answer_is_text(live: Any) -> None:
    choice = ask(live, tools=[WEATHER], tool_choice="none", max_tokens=5, **GREEDY).choices[0]
    assert choice.message.tool_calls is None
    assert choice.finish_reason == "length"


def test_tools_are_part_of_the_prompt_whatever_the_choice(live: Any) -> None:
    bare = ask(live, max_tokens=1, **GREEDY).usage
    tooled = [
        ask(live, tools=[WEATHER], tool_choice=choice, max_tokens=1, **GREEDY).usage
        for choice in ("auto", "none", "required")
    ]
    assert bare is not None
    counts = {usage.prompt_tokens for usage in tooled if usage}
    assert len(counts) == 1
    assert counts.pop() > bare.prompt_tokens


def test_a_conversation_with_calls_and_results_goes_on(live: Any) -> None:
    call = {"id": "a1b2c3d4e", "type": "function", "function": {"name": "time", "arguments": "{}"}}
    messages = [
        *HELLO,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "content": "noon", "tool_call_id": "a1b2c3d4e"},
    ]
    assert ask(live, messages, tools=[TIME], max_tokens=2, **GREEDY).choices[0].message


def test_a_json_schema_is_obeyed_by_any_model(live: Any) -> None:
    schema = {
        "type": "object",
        "properties": {"colour": {"enum": ["red", "blue"]}, "even": {"type": "boolean"}},
        "required": ["colour", "even"],
        "additionalProperties": False,
    }
    wanted: Any = {"type": "json_schema", "json_schema": {"name": "thing", "schema": schema}}
    response = ask(live, response_format=wanted, temperature=1, seed=1, max_tokens=300)
    thing = json.loads(response.choices[0].message.content or "")
    assert thing["colour"] in ("red", "blue")
    assert isinstance(thing["even"], bool)
    assert response.choices[0].finish_reason == "stop"


def test_a_json_object_begins_as_one(live: Any) -> None:
    response = ask(live, response_format={"type": "json_object"}, max_tokens=20, temperature=0)
    assert (response.choices[0].message.content or "").lstrip().startswith("{")


def test_the_stream_helper_of_the_sdk_is_content(live: Any) -> None:
    free = ask(live, max_tokens=20, **GREEDY).choices[0].message.content or ""
    stop = free[5:8]
    with live.client().chat.completions.stream(
        model="tiny", messages=HELLO, max_tokens=20, stop=stop, **GREEDY
    ) as events:
        final = events.get_final_completion()
    assert final.choices[0].message.content == free[: free.index(stop)]
    assert final.choices[0].finish_reason == "stop"


def test_the_raw_stream_ends_with_done_and_has_no_event_lines(live: Any) -> None:
    body = {"model": "tiny", "messages": HELLO, "max_tokens": 2, "stream": True}
    with live.http() as http:
        response = http.post("/v1/chat/completions", json=body)
    assert response.headers["content-type"].startswith("text/event-stream")
    lines = [line for line in response.text.split("\n") if line]
    assert all(line.startswith("data: ") for line in lines)
    assert lines[-1] == "data: [DONE]"
