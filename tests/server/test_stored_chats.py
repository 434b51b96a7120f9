"""Chat completions with `store: true`, by OpenAI's own client."""

from pathlib import Path
from typing import Any

import openai
import pytest
from openai.types.chat import ChatCompletionStoreMessage

from headstart.dialects.openai.stored_chat import to_stored
from headstart.server.kept_chats import KeptChats, _size

CITY = {"type": "object", "properties": {"city": {"enum": ["Paris"]}}, "required": ["city"]}
TOOL = {"type": "function", "function": {"name": "weather", "parameters": CITY, "strict": True}}
HELLO = {"role": "user", "content": "Hello"}


@pytest.fixture(scope="module")
def walled(start_real: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    keys = tmp_path_factory.mktemp("stored") / "keys"
    keys.write_text("ka alice\nkb bob\nkc carol\nkd dora\n")
    return start_real(api_key="op", api_keys_file=str(keys))


@pytest.fixture(scope="module")
def aliased(start_real: Any) -> Any:
    return start_real(aliases=(("openai", "gpt-4.1"),))


def create(client: openai.OpenAI, **fields: Any) -> Any:
    given = {"model": "tiny", "messages": [HELLO], "max_tokens": 3, "store": True} | fields
    return client.chat.completions.create(**given)


def test_what_is_stored_is_there_as_it_was_sent_and_can_be_changed_and_deleted(walled: Any) -> None:
    client = walled.client("ka")
    chats = client.chat.completions
    sent = create(client, metadata={"run": "a"}, temperature=0.5, seed=7, user="ann")
    kept = chats.retrieve(sent.id)
    assert sent.to_dict().items() <= kept.to_dict().items()
    shown = kept.to_dict()
    assert (shown["metadata"], shown["temperature"], shown["seed"]) == ({"run": "a"}, 0.5, 7)
    assert (shown["input_user"], shown["top_p"], shown["tools"]) == ("ann", 1.0, None)
    assert shown["request_id"] == sent._request_id

    changed = chats.update(sent.id, metadata={"run": "b", "ü": "é"})
    assert changed.to_dict() == shown | {"metadata": {"run": "b", "ü": "é"}}
    assert chats.retrieve(sent.id).to_dict() == changed.to_dict()
    assert chats.update(sent.id, metadata=None).to_dict()["metadata"] == {}

    gone = chats.delete(sent.id)
    assert (gone.id, gone.deleted, gone.object) == (sent.id, True, "chat.completion.deleted")
    for ask in (chats.retrieve, chats.delete, chats.messages.list):
        with pytest.raises(openai.NotFoundError, match=f"id '{sent.id}' not found"):
            ask(sent.id)


def test_a_stream_is_kept_as_the_whole_answer_is(walled: Any) -> None:
    """Both choices, calls, logprobs and usage: at one seed they are the same."""
    client = walled.client("ka")
    for fields in (
        {"tools": [TOOL], "tool_choice": "required", "max_tokens": 60},
        {"n": 2, "logprobs": True, "top_logprobs": 2, "max_tokens": 5},
        {},
    ):
        whole = create(client, temperature=0, **fields)
        for options in ({}, {"stream_options": {"include_usage": True}}):
            chunks = list(create(client, temperature=0, stream=True, **options, **fields))
            kept = client.chat.completions.retrieve(chunks[0].id)
            assert _without_ids(kept.choices) == _without_ids(whole.choices)
            assert kept.usage.completion_tokens == whole.usage.completion_tokens
            if options:
                assert kept.usage == chunks[-1].usage


def _without_ids(choices: Any) -> Any:
    shown = [choice.to_dict() for choice in choices]
    for choice in shown:
        for call in choice["message"].get("tool_calls") or ():
            assert call.pop("id")
    return shown


def test_lists_are_filtered_ordered_and_paged(walled: Any) -> None:
    client = walled.client("kc")
    chats = client.chat.completions
    assert list(chats.list()) == []
    names = []
    for number in range(5):
        tags = {"number": str(number), "k[1] & ü": "even" if number % 2 == 0 else "odd"}
        names.append(create(client, metadata=tags).id)
    create(client, store=False)
    create(client, store=None)

    def ids(**query: Any) -> list[str]:
        return [chat.id for chat in chats.list(**query)]

    assert ids() == names
    assert ids(order="desc", limit=2) == names[::-1]
    assert ids(limit=1) == names
    assert [chat.id for chat in chats.list(limit=2, after=names[1]).data] == names[2:4]
    assert ids(metadata={"k[1] & ü": "even"}) == names[::2]
    assert ids(metadata={"k[1] & ü": "even", "number": "2"}) == [names[2]]
    assert ids(metadata={"number": "7"}) == ids(model="other") == []
    assert ids(model="tiny", order="asc") == names
    page = chats.list(limit=2)
    assert page.has_more
    assert (page.to_dict()["first_id"], page.to_dict()["last_id"]) == (names[0], names[1])
    for query in ({"limit": 0}, {"limit": 101}, {"order": "up"}, {"after": "chatcmpl-x"}):
        with pytest.raises(openai.BadRequestError):
            chats.list(**query)  # type: ignore[arg-type]


def test_messages_are_those_of_the_request(walled: Any) -> None:
    """Their roles are their own, as in OpenAI's reference; its client's type knows the assistant's.

    So the strict client takes the assistant's alone, of OpenAI's answer as of ours.
    """
    call = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
    parts = [{"type": "text", "text": "one"}, {"type": "text", "text": "zwei 🙂"}]
    said: list[Any] = [
        {"role": "system", "content": "Be brief.", "name": "boss"},
        {"role": "user", "content": parts},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "content": "sun", "tool_call_id": "c1"},
        {"role": "assistant", "content": "Sunny."},
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
        HELLO,
    ]
    client = walled.client("ka", strict=False)
    sent = create(client, messages=said, tools=[TOOL])
    listed = client.chat.completions.messages.list
    found = list(listed(sent.id))
    assert [message.id for message in found] == [f"{sent.id}-{i}" for i in range(7)]
    assert [message.role for message in found] == [message["role"] for message in said]
    assert [message.content for message in found] == [
        "Be brief.", None, None, "sun", "Sunny.", None, "Hello"
    ]  # fmt: skip
    assert [part.to_dict() for part in found[1].content_parts] == parts
    assert (found[5].refusal, found[5].content_parts) == ("No.", None)
    assert [each.to_dict() for each in found[2].tool_calls] == [call]
    assert found[0].to_dict()["name"] == "boss"
    assert found[3].to_dict()["tool_call_id"] == "c1"
    assert [m.id for m in listed(sent.id, limit=4, order="desc")] == [m.id for m in found[::-1]]
    for message in found:
        ChatCompletionStoreMessage.model_validate(message.to_dict() | {"role": "assistant"})
    alone = create(walled.client("ka"), messages=said[4:5])
    assert len(list(walled.client("ka").chat.completions.messages.list(alone.id))) == 1


def test_another_tenants_completions_are_not_there(walled: Any) -> None:
    alice, bob = walled.client("ka").chat.completions, walled.client("kb").chat.completions
    mine = create(walled.client("ka"))
    for ask in (bob.retrieve, bob.delete, bob.messages.list):
        with pytest.raises(openai.NotFoundError):
            ask(mine.id)
    with pytest.raises(openai.NotFoundError):
        bob.update(mine.id, metadata={"a": "b"})
    assert list(bob.list()) == []
    with pytest.raises(openai.NotFoundError):
        walled.client("ka").responses.retrieve(mine.id)
    assert alice.retrieve(mine.id).id == mine.id


@pytest.mark.parametrize(
    ("fields", "param", "says"),
    [
        ({"store": "yes"}, "store", ""),
        ({"metadata": {"a": 1}}, "metadata", ""),
        ({"metadata": {"a": "x" * 513}}, None, ""),
        ({"metadata": {"k" * 65: "x"}}, None, ""),
        ({"metadata": {str(n): "" for n in range(17)}}, "metadata", ""),
    ],
)
def test_what_cannot_be_kept_is_refused(
    live: Any, fields: dict[str, Any], param: str | None, says: str
) -> None:
    with pytest.raises(openai.BadRequestError) as refused:
        create(live.client(), **fields)
    assert param is None or (refused.value.param or "").startswith(param)
    assert says in refused.value.message


@pytest.mark.parametrize("store", [False, None])
def test_metadata_of_what_is_not_kept_is_refused_for_a_model_of_openais_alone(
    aliased: Any, store: bool | None
) -> None:
    """Clients of other servers send it to any (QwenLM/qwen-code#243; LiteLLM sends lists in it)."""
    fields: Any = {"store": store, "metadata": {"tags": ["a", "b"]}}
    assert create(aliased.client(), extra_body=fields).choices
    fields["metadata"] = {"a": "b"}
    with pytest.raises(openai.BadRequestError) as refused:
        create(aliased.client(), model="gpt-4.1", extra_body=fields)
    assert refused.value.param == "metadata"
    assert "only allowed when 'store'" in refused.value.message


@pytest.mark.parametrize("body", [{}, {"metadata": {"a": 1}}, {"metadata": {}, "model": "m"}])
def test_nothing_but_metadata_can_be_changed(live: Any, body: dict[str, Any]) -> None:
    sent = create(live.client())
    answer = live.post(f"/v1/chat/completions/{sent.id}", **body)
    assert answer.status_code == 400, answer.text
    assert live.client().chat.completions.retrieve(sent.id).to_dict()["metadata"] == {}


def test_a_stream_that_its_client_leaves_is_not_kept(walled: Any, eventually: Any) -> None:
    client = walled.client("kd")
    stream = create(client, stream=True, max_tokens=900, extra_body={"ignore_eos": True})
    next(iter(stream))
    stream.close()
    eventually(lambda: walled.engine.stats().running == 0)
    assert list(client.chat.completions.list()) == []


def test_the_oldest_make_room() -> None:
    def chat(name: str) -> Any:
        completion = {"id": name, "created": 1, "model": "m"}
        return to_stored(completion, {"messages": []}, {}, "r")

    kept = KeptChats(budget=3 * _size(chat("0")))
    for name in "01234":
        kept.keep(chat(name))
    kept.keep(chat("2").with_metadata({}))  # What is changed stays in its place.
    assert [each.id for each in kept] == ["2", "3", "4"]


def test_deepseek_ignores_it(live: Any, tmp_path: Path) -> None:
    body = {"model": "tiny", "messages": [HELLO], "max_tokens": 2, "store": True, "metadata": 1}
    answer = live.post("/chat/completions", **body)
    assert answer.status_code == 200
    assert live.get(f"/v1/chat/completions/{answer.json()['id']}").status_code == 404
