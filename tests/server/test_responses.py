"""Responses through the official client, on the real engine."""

import json
from pathlib import Path
from typing import Any, Literal

import openai
import pydantic
import pytest
from tests.server.test_failures import ScriptedEngine

from headstart.engine.api import Chunk, EngineStopped

GREEDY: dict[str, Any] = {"model": "tiny", "temperature": 0, "max_output_tokens": 24}
FREE: dict[str, Any] = {**GREEDY, "extra_body": {"ignore_eos": True}}
WEATHER: Any = {
    "type": "function",
    "name": "weather",
    "strict": True,
    "parameters": {
        "type": "object",
        "properties": {"city": {"enum": ["Paris", "Zürich"]}},
        "required": ["city"],
        "additionalProperties": False,
    },
}
TIME: Any = {"type": "function", "name": "time"}
CALLING: dict[str, Any] = {
    "model": "tiny",
    "tools": [TIME, WEATHER],
    "tool_choice": {"type": "function", "name": "weather"},
    "parallel_tool_calls": False,
    "temperature": 0,
}


@pytest.fixture(scope="module")
def walled(start_real: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    path: Path = tmp_path_factory.mktemp("keys") / "keys"
    path.write_text("ka alice\nkb bob\n")
    return start_real(api_keys_file=str(path))


def create(live: Any, **fields: Any) -> Any:
    return live.client().responses.create(**{"input": "Hello"} | FREE | fields)


def test_a_response_repeats_what_was_asked(live: Any) -> None:
    asked = {
        "instructions": "Be brief.",
        "metadata": {"a": "b"},
        "prompt_cache_key": "k",
        "safety_identifier": "s",
        "top_p": 0.5,
        "reasoning": {"effort": "low", "summary": "auto"},
        "tools": [WEATHER],
        "tool_choice": "none",
        "truncation": "disabled",
        "user": "ann",
    }
    told = create(live, **asked).to_dict()
    for name, value in asked.items():
        if name not in ("tools", "reasoning"):
            assert told[name] == value, name
    assert told["tools"] == [WEATHER | {"description": None}]
    assert told["reasoning"] == {"effort": "low", "summary": "auto"}
    assert told["max_output_tokens"] == 24
    assert told["usage"]["output_tokens"] == 24
    assert told["usage"]["output_tokens_details"] == {"reasoning_tokens": 0}
    assert (told["status"], told["incomplete_details"]) == (
        "incomplete",
        {"reason": "max_output_tokens"},
    )


def test_a_kept_response_is_retrieved_listed_and_deleted(live: Any) -> None:
    client = live.client()
    created = create(live, input=[{"role": "user", "content": "Hi"}])
    assert client.responses.retrieve(created.id) == created
    (item,) = client.responses.input_items.list(created.id).data
    assert (item.type, item.role, item.content[0].text) == ("message", "user", "Hi")
    client.responses.delete(created.id)
    for gone in (client.responses.retrieve, client.responses.delete, client.responses.cancel):
        with pytest.raises(openai.NotFoundError) as caught:
            gone(created.id)
        assert f"Response with id '{created.id}' not found." in caught.value.message
    with pytest.raises(openai.BadRequestError) as previous:
        create(live, previous_response_id=created.id)
    assert previous.value.code == "previous_response_not_found"


def test_input_items_come_in_pages_that_the_sdk_follows(live: Any) -> None:
    created = create(live, input=[{"role": "user", "content": str(n)} for n in range(7)])
    listed = live.client().responses.input_items.list(created.id, limit=3, order="asc")
    assert [item.content[0].text for item in listed] == [str(n) for n in range(7)]


def test_every_kind_of_item_is_listed_as_the_sdk_knows_it(live: Any) -> None:
    created = create(
        live,
        input=[
            {"role": "developer", "content": "d"},
            {"role": "user", "content": "u"},
            {"role": "assistant", "content": "a"},
            {"type": "function_call", "call_id": "c1", "name": "time", "arguments": "{}"},
            {
                "type": "function_call_output",
                "call_id": "c1",
                "output": [{"type": "input_text", "text": "noon"}],
            },
        ],
        tools=[TIME],
        tool_choice="none",
    )
    items = live.client().responses.input_items.list(created.id, order="asc").data
    kinds = ["message", "message", "message", "function_call", "function_call_output"]
    assert [item.type for item in items] == kinds
    assert len({item.id for item in items}) == 5


THOUGHT = {
    "type": "reasoning",
    "id": "rs_68af4030baa48193b0b43b4c2a176a1a",
    "summary": [{"type": "summary_text", "text": "**Looking for the time**"}],
    "encrypted_content": "gAAAAABpF" * 40,
}
"""As OpenAI's reasoning models answer with it, beside what they say or call."""


def test_a_conversation_that_a_reasoning_model_began_goes_on_here(live: Any) -> None:
    """What it thought is kept and listed, changes no token and breaks no prefix."""
    call = {"type": "function_call", "call_id": "c1", "name": "time", "arguments": "{}"}
    said = [
        {"role": "user", "content": "When? " * 40},
        {"role": "assistant", "content": "I look."},
        call,
        {"type": "function_call_output", "call_id": "c1", "output": "noon"},
        {"role": "assistant", "content": "Noon."},
        {"role": "user", "content": "Sure?"},
    ]
    free = {"tools": [TIME], "tool_choice": "none", "temperature": 0}
    plain = create(live, input=said, **free)
    bare = {"type": "reasoning", "summary": [], "content": None, "encrypted_content": "x"}
    spoken = {**THOUGHT, "id": "rs_2", "content": [{"type": "reasoning_text", "text": "Hm."}]}
    thought = [said[0], bare, said[1], THOUGHT, *said[2:4], spoken, *said[4:]]
    answered = create(live, input=thought, **free)
    assert answered.output_text == plain.output_text
    assert answered.usage.input_tokens == plain.usage.input_tokens
    cached = answered.usage.input_tokens_details.cached_tokens
    assert cached == plain.usage.input_tokens - 1

    client = live.client()
    count = client.responses.input_tokens.count(model="tiny", input=thought, tools=[TIME])
    assert count.input_tokens == plain.usage.input_tokens
    listed = client.responses.input_items.list(answered.id, order="asc").data
    kinds = ["message", "reasoning", "message", "reasoning", "function_call"]
    assert [item.type for item in listed][:5] == kinds
    assert listed[3].to_dict() == THOUGHT | {"status": "completed"}
    assert listed[6].to_dict() == spoken | {"status": "completed"}
    assert listed[1].id.startswith("rs_")
    onward = create(live, input="Really?", previous_response_id=answered.id, **free)
    referred = [{"type": "item_reference", "id": THOUGHT["id"]}, {"role": "user", "content": "?"}]
    assert create(live, input=referred).output_text
    assert onward.usage.input_tokens_details.cached_tokens > cached


def test_what_is_not_stored_is_not_there_afterwards(live: Any) -> None:
    created = create(live, store=False)
    assert created.store is False
    with pytest.raises(openai.NotFoundError):
        live.client().responses.retrieve(created.id)


def test_a_kept_response_is_neither_streamed_nor_cancelled(live: Any) -> None:
    client = live.client()
    created = create(live)
    with pytest.raises(openai.BadRequestError) as streamed:
        client.responses.retrieve(created.id, stream=True)
    assert "not created with background=true" in streamed.value.message
    with pytest.raises(openai.BadRequestError) as cancelled:
        client.responses.cancel(created.id)
    assert "Cannot cancel a synchronous response." in cancelled.value.message


def test_nothing_is_compacted(live: Any) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        live.client().responses.compact(model="tiny", input="x")
    assert caught.value.param == "model"


def test_another_tenants_response_is_not_there(walled: Any) -> None:
    alice, bob = walled.client("ka").responses, walled.client("kb").responses
    created = alice.create(input="Hello", **FREE)
    assert alice.retrieve(created.id).id == created.id
    for ask in (bob.retrieve, bob.delete, bob.cancel, bob.input_items.list):
        with pytest.raises(openai.NotFoundError):
            ask(created.id)
    with pytest.raises(openai.BadRequestError):
        bob.create(input="x", previous_response_id=created.id, **FREE)
    with pytest.raises(openai.NotFoundError):
        bob.create(input=[{"type": "item_reference", "id": created.output[0].id}], **FREE)
    assert alice.retrieve(created.id).id == created.id


def test_a_chain_answers_as_the_whole_conversation_does(live: Any) -> None:
    """And reads what the turn before has left of it."""
    first = create(live, input="Hello", max_output_tokens=16)
    chained = create(live, input="And?", previous_response_id=first.id)
    listed = [{"role": "user", "content": "Hello"}, *first.output, {"role": "user", "content": "?"}]
    whole = [item if isinstance(item, dict) else item.to_dict() for item in listed]
    whole[-1]["content"] = "And?"
    resent = create(live, input=whole)
    assert resent.output_text == chained.output_text
    assert resent.usage.input_tokens == chained.usage.input_tokens
    referred = [{"type": "item_reference", "id": item.id} for item in first.output]
    by_id = create(live, input=[whole[0], *referred, whole[-1]])
    assert by_id.output_text == chained.output_text


def test_a_chain_leaves_the_instructions_of_earlier_turns_behind(live: Any) -> None:
    first = create(live, instructions="Be brief. " * 10)
    plain, other = (
        create(live, input="And?", previous_response_id=first.id, **fields)
        for fields in ({}, {"instructions": "Be brief. " * 10})
    )
    assert plain.instructions is None
    assert other.usage.input_tokens > plain.usage.input_tokens + 10


@pytest.mark.parametrize("stream", [False, True])
def test_a_tool_is_called_and_its_result_handed_back(live: Any, stream: bool) -> None:
    client = live.client()
    if stream:
        with client.responses.stream(input="Weather?", **CALLING) as events:
            seen = list(events)
            first = seen[-1].response
        deltas = "".join(
            e.delta for e in seen if e.type == "response.function_call_arguments.delta"
        )
        assert deltas == first.output[0].arguments
    else:
        first = client.responses.create(input="Weather?", **CALLING)
    (call,) = first.output
    assert (call.type, call.name, call.status) == ("function_call", "weather", "completed")
    assert json.loads(call.arguments)["city"] in ("Paris", "Zürich")
    result: Any = {"type": "function_call_output", "call_id": call.call_id, "output": "Rain."}
    second = client.responses.create(
        input=[result], previous_response_id=first.id, tools=[TIME, WEATHER], **GREEDY
    )
    assert second.usage is not None
    assert first.usage is not None
    assert second.usage.input_tokens_details.cached_tokens > first.usage.input_tokens
    with pytest.raises(openai.BadRequestError) as caught:
        client.responses.create(input="So?", previous_response_id=first.id, **GREEDY)
    assert f"No tool output found for function call {call.call_id}." in caught.value.message


@pytest.mark.parametrize("stream", [False, True])
def test_a_call_that_is_cut_is_an_incomplete_item(live: Any, stream: bool) -> None:
    client = live.client()
    whole = client.responses.create(input="Weather?", **CALLING)
    asked = {"input": "Weather?", **CALLING, "max_output_tokens": whole.usage.output_tokens - 20}
    if stream:
        *_, last = client.responses.create(**asked, stream=True)
        assert last.type == "response.incomplete"
        cut = last.response
    else:
        cut = client.responses.create(**asked)
    assert (cut.status, cut.incomplete_details.reason) == ("incomplete", "max_output_tokens")
    (call,) = cut.output
    assert (call.type, call.name, call.status) == ("function_call", "weather", "incomplete")
    assert whole.output[0].arguments.startswith(call.arguments)


class City(pydantic.BaseModel):
    name: Literal["Paris", "Rome"]


def test_a_schema_is_obeyed_and_parsed_by_the_sdk(live: Any) -> None:
    asked: Any = {"model": "tiny", "input": "Which?", "temperature": 0}
    parsed = live.client().responses.parse(**asked, text_format=City)
    assert parsed.output_parsed.name in ("Paris", "Rome")
    assert parsed.text.format.type == "json_schema"
    with live.client().responses.stream(**asked, text_format=City) as stream:
        assert stream.get_final_response().output_parsed == parsed.output_parsed


def test_a_schema_that_no_grammar_can_be_made_of_is_blamed_on_its_field(live: Any) -> None:
    wanted = {"type": "json_schema", "name": "x", "schema": {"type": "no such type"}}
    with pytest.raises(openai.BadRequestError) as caught:
        create(live, text={"format": wanted})
    assert caught.value.param == "text.format"


def test_included_logprobs_are_those_of_the_text_streamed_or_not(live: Any) -> None:
    asked = {"include": ["message.output_text.logprobs"], "top_logprobs": 2}
    whole = create(live, **asked).output[0].content[0]
    assert len(whole.logprobs) == 24
    assert [len(token.top_logprobs) for token in whole.logprobs] == [2] * 24
    text = b"".join(bytes(token.bytes) for token in whole.logprobs)
    # Special tokens show in logprobs alone.
    assert text.decode(errors="replace").startswith(whole.text)
    last = list(create(live, stream=True, **asked))[-1]
    assert last.response.output[0].content[0] == whole
    assert create(live).output[0].content[0].logprobs == []


FAILURES = [
    RuntimeError("secret detail"),
    EngineStopped("The server is shutting down."),
    Chunk(0, "", finish_reason="error"),
]


@pytest.mark.parametrize("failure", FAILURES)
def test_a_failure_halfway_is_a_failed_response(start_scripted: Any, failure: Any) -> None:
    live = start_scripted(ScriptedEngine([Chunk(0, "Hel", tokens=1), failure]))
    stream = live.client().responses.create(model="tiny", input="Hello", stream=True)
    *_, delta, last = stream
    assert delta.delta == "Hel"
    assert last.type == "response.failed"
    assert last.response.status == "failed"
    assert last.response.error.code == "server_error"
    assert "secret" not in last.response.error.message
    with pytest.raises(openai.NotFoundError):
        live.client().responses.retrieve(last.response.id)


def test_a_failure_before_the_first_word_is_a_status(start_scripted: Any) -> None:
    live = start_scripted(ScriptedEngine([RuntimeError("secret detail")]))
    with pytest.raises(openai.InternalServerError) as caught:
        live.client().responses.create(model="tiny", input="Hello", stream=True)
    assert "secret" not in caught.value.message
