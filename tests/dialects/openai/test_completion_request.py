"""What a text completion body means."""

import json
from typing import Any

import pytest

from headstart.dialects.errors import ApiError
from headstart.dialects.openai.completion_request import CompletionRequest, parse_completion


def parse(**fields: Any) -> CompletionRequest:
    return parse_completion(json.dumps({"model": "m", "prompt": "a"} | fields).encode())


@pytest.mark.parametrize(
    ("prompt", "prompts"),
    [
        ("text", ("text",)),
        ("", ("",)),
        (["a", "b"], ("a", "b")),
        ([1, 2, 3], ((1, 2, 3),)),
        ([[1], [2, 3]], ((1,), (2, 3))),
    ],
)
def test_a_prompt_comes_in_four_forms(prompt: Any, prompts: Any) -> None:
    assert parse(prompt=prompt).prompts == prompts


@pytest.mark.parametrize(
    ("prompt", "param"),
    [
        ([], "prompt"),
        ([[1], []], "prompt[1]"),
        (["a", 1], "prompt"),
        ([1, [2]], "prompt"),
        (None, "prompt"),
        ({"a": 1}, "prompt"),
        ([1.5], "prompt[0]"),
        ([-1], "prompt[0]"),
        ([[1, "a"]], "prompt[0][1]"),
        (["a"] * 129, "prompt"),
    ],
)
def test_other_prompts_are_refused_by_their_path(prompt: Any, param: str) -> None:
    with pytest.raises(ApiError) as caught:
        parse(prompt=prompt)
    assert (caught.value.status, caught.value.param) == (400, param)


def test_the_default_length_is_openais_sixteen() -> None:
    assert parse().sampling.max_tokens == 16
    assert parse(max_tokens=1).sampling.max_tokens == 1


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"echo": True}, "echo"),
        ({"suffix": "x"}, "suffix"),
        ({"best_of": 3}, "best_of"),
        ({"best_of": 3, "n": 2}, "best_of"),
        ({"logprobs": 6}, "logprobs"),
        ({"logprobs": True}, "logprobs"),
        ({"max_tokens": 0}, "max_tokens"),
    ],
)
def test_what_is_not_done_here_is_refused(fields: dict[str, Any], param: str) -> None:
    with pytest.raises(ApiError) as caught:
        parse(**fields)
    assert (caught.value.status, caught.value.param) == (400, param)


def test_harmless_forms_of_those_fields_pass() -> None:
    assert parse(echo=False, suffix=None, best_of=2, n=2).n == 2


def test_logprobs_is_a_number_here() -> None:
    assert parse(logprobs=0).sampling.logprobs == 0
    assert parse(logprobs=5).sampling.logprobs == 5
    assert parse().sampling.logprobs is None
