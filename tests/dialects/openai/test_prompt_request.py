"""The bodies of /tokenize, /detokenize and /cache/lookup."""

import json
from typing import Any

import pytest

from headstart.dialects.errors import ApiError
from headstart.dialects.openai.prompt_request import PromptRequest, parse_prompt, parse_tokens
from headstart.text.chat import Conversation, Message


def parse(allow_tokens: bool = True, **fields: Any) -> PromptRequest:
    return parse_prompt(json.dumps(fields).encode(), allow_tokens=allow_tokens)


def test_a_prompt_is_messages_or_text_or_tokens() -> None:
    messages = [{"role": "user", "content": "a"}]
    assert parse(messages=messages).prompt == Conversation((Message("user", "a"),))
    assert parse(prompt="a").prompt == "a"
    assert parse(tokens=[1, 2]).prompt == (1, 2)


@pytest.mark.parametrize(
    "fields", [{}, {"prompt": "a", "tokens": [1]}, {"prompt": "a", "messages": []}]
)
def test_none_or_several_of_them_are_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ApiError) as caught:
        parse(**fields)
    assert caught.value.status == 400


def test_tokens_cannot_be_tokenised_again() -> None:
    with pytest.raises(ApiError):
        parse(allow_tokens=False, tokens=[1])


def test_special_tokens_are_added_unless_told_otherwise() -> None:
    assert parse(prompt="a").special_tokens
    assert not parse(prompt="a", add_special_tokens=False).special_tokens


def test_detokenize_takes_token_ids_only() -> None:
    assert parse_tokens(b'{"tokens":[1,2]}').tokens == [1, 2]
    for body, param in [(b"{}", "tokens"), (b'{"tokens":["a"]}', "tokens[0]")]:
        with pytest.raises(ApiError) as caught:
            parse_tokens(body)
        assert caught.value.param == param
