"""Conversations with the official client: every turn reuses all of the turn before."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from headstart.text.chat import Conversation, Message

SYSTEM = "You are a helpful assistant. Answer in one short sentence."
QUESTIONS = (
    "What is a cache?",
    "Why does Zürich have naïve cafés? 東京 🙂",
    "  Count: 0 1 2 3,\n\n\tplease.  ",
    "And now?",
)


def talk(live: Any, key: str = "anything", model: str = "tiny", **fields: Any) -> Iterator[Any]:
    """(answer, tokens of the turn before that are in the cache) for every question."""
    client = live.client(key)
    messages: Any = [{"role": "system", "content": SYSTEM}]
    reusable = 0
    for question in QUESTIONS:
        messages.append({"role": "user", "content": question})
        answer = client.chat.completions.create(model=model, messages=messages, **fields)
        yield answer, reusable
        # The last token that was drawn was never computed.
        reusable = answer.usage.total_tokens - 1
        messages.append({"role": "assistant", "content": answer.choices[0].message.content})


@pytest.fixture(scope="module")
def readable(tiny: Any) -> dict[str, float]:
    """A bias for tokens that are whole characters: else a random model mostly draws halves."""
    texts = {number: tiny.codec.decode([number]) for number in range(tiny.codec.vocab_size)}
    return {
        str(number): 100.0
        for number, text in texts.items()
        if text and text.isascii() and text.isprintable()
    }


def reused(answer: Any) -> int:
    cached = answer.usage.prompt_tokens_details.cached_tokens
    assert isinstance(cached, int)
    return cached


@pytest.mark.parametrize("most", [1, 2, 15, 16, 17, 40])
def test_turn_10_turn_after_turn_that_ended_by_length(live: Any, readable: Any, most: int) -> None:
    turns = talk(
        live,
        max_tokens=most,
        temperature=1,
        seed=most,
        logit_bias=readable,
        extra_body={"cache_salt": f"length {most}"},
    )
    for answer, reusable in turns:
        assert answer.choices[0].finish_reason == "length"
        assert reused(answer) == reusable


def test_turn_after_turn_that_ended_by_stop(live: Any, readable: Any) -> None:
    bias = dict.fromkeys(readable, 97.0) | {str(live.codec.eos_ids[0]): 100.0}
    ended = 0
    for seed in range(5):
        turns = talk(
            live,
            max_tokens=200,
            temperature=1,
            seed=seed,
            logit_bias=bias,
            extra_body={"cache_salt": f"stop {seed}"},
        )
        for answer, reusable in turns:
            assert reused(answer) == reusable
            ended += answer.choices[0].finish_reason == "stop"
    assert ended > 10


def test_a_streamed_answer_is_remembered_like_a_whole_one(live: Any, readable: Any) -> None:
    client = live.client()
    messages: Any = [{"role": "user", "content": QUESTIONS[0]}]
    fields: Any = {
        "model": "tiny",
        "max_tokens": 30,
        "logit_bias": readable,
        "extra_body": {"cache_salt": "streamed"},
    }
    pieces = list(
        client.chat.completions.create(
            messages=messages, stream=True, stream_options={"include_usage": True}, **fields
        )
    )
    text = "".join(piece.choices[0].delta.content or "" for piece in pieces if piece.choices)
    messages += [
        {"role": "assistant", "content": text},
        {"role": "user", "content": QUESTIONS[3]},
    ]
    answer = client.chat.completions.create(messages=messages, **fields)
    assert reused(answer) == pieces[-1].usage.total_tokens - 1


def test_either_of_two_choices_can_be_gone_on_from(live: Any, readable: Any) -> None:
    client = live.client()
    fields: Any = {
        "model": "tiny",
        "seed": 3,
        "logit_bias": readable,
        "extra_body": {"cache_salt": "choices"},
    }
    first: Any = [{"role": "user", "content": QUESTIONS[0]}]
    answers = client.chat.completions.create(messages=first, max_tokens=20, n=2, **fields)
    assert len({choice.message.content for choice in answers.choices}) == 2
    for choice in answers.choices:
        said = {"role": "assistant", "content": choice.message.content}
        then = client.chat.completions.create(
            messages=[*first, said, {"role": "user", "content": QUESTIONS[3]}],
            max_tokens=1,
            **fields,
        )
        assert reused(then) == answers.usage.prompt_tokens + 20 - 1


def test_an_answer_the_client_changed_is_reused_up_to_the_change(live: Any, readable: Any) -> None:
    client = live.client()
    fields: Any = {
        "model": "tiny",
        "max_tokens": 40,
        "logit_bias": readable,
        "extra_body": {"cache_salt": "changed"},
    }
    messages: Any = [{"role": "user", "content": QUESTIONS[0]}]
    first = client.chat.completions.create(messages=messages, **fields)
    said = first.choices[0].message.content
    changed = {"role": "assistant", "content": "東京" + said}
    then = client.chat.completions.create(
        messages=[*messages, changed, {"role": "user", "content": QUESTIONS[3]}], **fields
    )
    assert reused(then) == first.usage.prompt_tokens


def test_half_a_character_at_the_end_costs_the_answer_and_nothing_before_it(live: Any) -> None:
    """Its text can't be sent back: the client has U+FFFD in its place."""
    client = live.client()
    half = next(i for i in range(live.codec.vocab_size) if live.codec.token_bytes(i) == b"\xe6")
    fields: Any = {
        "model": "tiny",
        "max_tokens": 4,
        "logit_bias": {str(half): 100.0},
        "extra_body": {"cache_salt": "half"},
    }
    messages: Any = [{"role": "user", "content": QUESTIONS[0]}]
    first = client.chat.completions.create(messages=messages, **fields)
    said = first.choices[0].message.content
    assert "\ufffd" in said
    history = [*messages, {"role": "assistant", "content": said}]
    then = client.chat.completions.create(
        messages=[*history, {"role": "user", "content": QUESTIONS[3]}], **fields
    )
    assert reused(then) == first.usage.prompt_tokens


def test_an_answer_remembered_for_one_tenant_changes_no_ids_of_another(
    start_real: Any, readable: Any, tmp_path: Path
) -> None:
    (tmp_path / "keys").write_text("ka alice\nkb bob\n")
    live = start_real(api_keys_file=str(tmp_path / "keys"))
    conversation = (Message("system", SYSTEM), Message("user", QUESTIONS[0]))
    messages: Any = [{"role": each.role, "content": each.content} for each in conversation]
    first = live.client("ka").chat.completions.create(
        model="tiny", messages=messages, max_tokens=30, n=8, seed=1, logit_bias=readable
    )
    texts = [choice.message.content for choice in first.choices]
    # One that a tokenizer would write with fewer tokens than the model did.
    said = next(text for text in texts if len(live.codec.encode(text)) < 30)
    history = [*messages, {"role": "assistant", "content": said}]
    plain = live.codec.encode_chat(Conversation((*conversation, Message("assistant", said))))
    own, others = (
        live.post("/tokenize", key, messages=history).json()["tokens"] for key in ("ka", "kb")
    )
    assert others == list(plain)
    assert own != others, "else this test tells nothing"
    assert live.codec.decode(own) == live.codec.decode(others)
    assert live.post("/cache/lookup", "kb", messages=history).json()["cached_tokens"] == 0


def test_tenants_that_send_equal_texts_get_equal_answers_and_counts_and_share_nothing(
    start_real: Any, readable: Any, tmp_path: Path
) -> None:
    (tmp_path / "keys").write_text("ka alice\nkb bob\n")
    live = start_real(api_keys_file=str(tmp_path / "keys"))
    talks = {
        key: [
            (answer.choices[0].message.content, answer.usage)
            for answer, _ in talk(live, key, max_tokens=30, seed=1, logit_bias=readable)
        ]
        for key in ("ka", "kb")
    }
    assert talks["ka"] == talks["kb"]
    assert talks["kb"][0][1].prompt_tokens_details.cached_tokens == 0
    trees = [live.get("/cache/tree", key).json()["nodes"] for key in ("ka", "kb")]
    shapes = [[(node["begin"], node["tokens"], node["uses"]) for node in nodes] for nodes in trees]
    assert shapes[0] == shapes[1]


@pytest.mark.slow
def test_turn_after_turn_with_the_default_model(default_model_path: Path) -> None:
    from openai import OpenAI

    from headstart.insight.bench.launch import serving

    async def run() -> None:
        async with serving(("--kv-memory", "256MiB")) as server:
            await asyncio.to_thread(converse, server.url)

    def converse(url: str) -> None:
        client = OpenAI(base_url=url, api_key="anything", max_retries=0)
        reasons = set()
        for most, questions in ((8, QUESTIONS), (60, QUESTIONS[:2])):
            messages: Any = [{"role": "system", "content": f"{SYSTEM} At most {most} words."}]
            reusable = None
            for question in questions:
                messages.append({"role": "user", "content": question})
                answer = client.chat.completions.create(
                    model="smollm2-135m-instruct", messages=messages, temperature=0, max_tokens=most
                )
                assert reusable in (None, reused(answer))
                reusable = answer.usage.total_tokens - 1
                reasons.add(answer.choices[0].finish_reason)
                said = answer.choices[0].message.content
                messages.append({"role": "assistant", "content": said})
        assert reasons == {"length", "stop"}

    asyncio.run(run())
