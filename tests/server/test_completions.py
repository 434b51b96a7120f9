"""Text completions through the official client, on the real engine."""

from typing import Any

import pytest
from openai.types import Completion

GREEDY: dict[str, Any] = {"temperature": 0, "extra_body": {"ignore_eos": True}}


def ask(live: Any, prompt: Any, **fields: Any) -> Completion:
    response = live.client().completions.create(model="tiny", prompt=prompt, **fields)
    assert isinstance(response, Completion)
    return response


def stream(live: Any, prompt: Any, **fields: Any) -> list[Completion]:
    # Not strict: OpenAI's own chunks have a null finish_reason, which the SDK's type denies.
    client = live.client(strict=False)
    return list(client.completions.create(model="tiny", prompt=prompt, stream=True, **fields))


def test_text_and_its_token_ids_are_one_prompt(live: Any) -> None:
    text = "A cache keeps"
    ids = live.codec.encode_prompt(text)
    by_text, by_ids = (ask(live, prompt, max_tokens=8, **GREEDY) for prompt in (text, ids))
    assert by_text.choices[0].text == by_ids.choices[0].text
    assert by_text.usage is not None
    assert by_text.usage.prompt_tokens == len(ids)


def test_several_prompts_and_choices_are_numbered_prompt_by_prompt(live: Any) -> None:
    prompts = ["one", "two two"]
    single = [ask(live, prompt, max_tokens=6, **GREEDY).choices[0].text for prompt in prompts]
    both = ask(live, prompts, n=2, max_tokens=6, **GREEDY)
    assert [choice.index for choice in both.choices] == [0, 1, 2, 3]
    assert [choice.text for choice in both.choices] == [single[0]] * 2 + [single[1]] * 2
    assert both.usage is not None
    assert both.usage.completion_tokens == 24
    assert both.usage.prompt_tokens == sum(len(live.codec.encode_prompt(p)) for p in prompts)


def test_a_stream_of_several_prompts_holds_the_whole_answers(live: Any) -> None:
    prompts = [[5, 6, 7], [8, 9]]
    whole = ask(live, prompts, max_tokens=6, **GREEDY)
    chunks = stream(live, prompts, max_tokens=6, stream_options={"include_usage": True}, **GREEDY)
    for choice in whole.choices:
        pieces = [c for chunk in chunks for c in chunk.choices if c.index == choice.index]
        assert "".join(piece.text for piece in pieces) == choice.text
        assert pieces[-1].finish_reason == choice.finish_reason
    usage = chunks[-1].usage
    assert chunks[-1].choices == []
    assert usage is not None
    assert whole.usage is not None
    assert usage.total_tokens == whole.usage.total_tokens


def test_the_default_length_is_sixteen_tokens(live: Any) -> None:
    response = ask(live, "A", **GREEDY)
    assert response.usage is not None
    assert response.usage.completion_tokens == 16


def test_legacy_logprobs_are_parallel_lists_of_every_token(live: Any) -> None:
    response = ask(live, "A", max_tokens=8, logprobs=2, **GREEDY)
    logprobs = response.choices[0].logprobs
    assert logprobs is not None
    assert logprobs.tokens is not None
    assert logprobs.top_logprobs is not None
    assert logprobs.token_logprobs is not None
    assert logprobs.text_offset is not None
    assert len(logprobs.tokens) == 8
    assert logprobs.text_offset[0] == 0
    for token, logprob, top in zip(
        logprobs.tokens, logprobs.token_logprobs, logprobs.top_logprobs, strict=True
    ):
        assert top[token] == logprob == max(top.values())
        assert len(top) == 2
    for token, offset in zip(logprobs.tokens, logprobs.text_offset, strict=True):
        if not token.startswith("bytes:"):
            assert response.choices[0].text[offset:].startswith(token)


def test_streamed_legacy_logprobs_are_the_whole_ones(live: Any) -> None:
    fields = {"max_tokens": 8, "logprobs": 1, **GREEDY}
    whole = ask(live, "A", **fields).choices[0].logprobs
    parts = [c.logprobs for chunk in stream(live, "A", **fields) for c in chunk.choices]
    assert whole is not None
    for name in ("tokens", "token_logprobs", "text_offset", "top_logprobs"):
        joined = [item for part in parts if part for item in getattr(part, name)]
        assert joined == getattr(whole, name)


def test_a_repeated_prompt_of_token_ids_is_reused(live: Any) -> None:
    ids = [3 + (7 * i) % 300 for i in range(100)]
    # What the salt keeps out: other tests' prompts may begin with the same token.
    salted = {"temperature": 0, "extra_body": {"cache_salt": "token ids"}}
    first, second = (ask(live, ids, max_tokens=1, **salted).usage for _ in range(2))
    assert first is not None
    assert second is not None
    assert first.prompt_tokens_details is not None
    assert second.prompt_tokens_details is not None
    assert first.prompt_tokens_details.cached_tokens == 0
    assert second.prompt_tokens_details.cached_tokens == 99


@pytest.mark.parametrize("length", [15, 16, 17, 32])
def test_edge_a_repeated_prompt_at_a_block_border_computes_one_token(
    live: Any, length: int
) -> None:
    """EDGE-01."""
    ids = [3 + (11 * i + length) % 300 for i in range(length)]
    first, second = (ask(live, ids, max_tokens=1, **GREEDY).usage for _ in range(2))
    assert first is not None
    assert second is not None
    assert second.prompt_tokens_details is not None
    assert second.prompt_tokens_details.cached_tokens == length - 1


def test_a_salt_keeps_prompts_apart(live: Any) -> None:
    ids = [3 + (13 * i) % 300 for i in range(64)]

    def cached(salt: str) -> int | None:
        body = {"ignore_eos": True, "cache_salt": salt}
        usage = ask(live, ids, max_tokens=1, temperature=0, extra_body=body).usage
        assert usage is not None
        assert usage.prompt_tokens_details is not None
        return usage.prompt_tokens_details.cached_tokens

    assert [cached("a"), cached("b"), cached("a")] == [0, 0, 63]
