"""The bodies of /cache/warm and /cache/pin."""

import json
from typing import Any

import pytest

from headstart.dialects.errors import ApiError
from headstart.dialects.openai.keep_request import (
    DEFAULT_TTL,
    LONGEST_TTL,
    MOST_PROMPTS,
    KeepRequest,
    parse_pin,
    parse_warm,
)
from headstart.text.chat import Conversation, Message, Tool

HI: Any = [{"role": "user", "content": "Hi"}]
TOOLS: Any = [{"type": "function", "function": {"name": "f"}}]


def warm(**fields: Any) -> KeepRequest:
    return parse_warm(json.dumps(fields).encode())


def pin(**fields: Any) -> KeepRequest:
    return parse_pin(json.dumps(fields).encode())


def param(parse: Any, **fields: Any) -> str | None:
    """The field that a refusal names."""
    with pytest.raises(ApiError) as caught:
        parse(**fields)
    assert caught.value.status == 400
    return caught.value.param


def test_a_body_is_one_prompt_in_any_form() -> None:
    for form, prompt in (
        ({"prompt": "a"}, "a"),
        ({"tokens": [1, 2]}, (1, 2)),
        ({"messages": HI}, Conversation((Message("user", "Hi"),))),
    ):
        for parse in (warm, pin):
            (asked,) = parse(**form).prompts
            assert asked.prompt == prompt


def test_a_list_holds_prompts_of_every_form_in_order() -> None:
    asked = warm(prompts=[{"prompt": "a"}, {"messages": HI, "tools": TOOLS}, {"tokens": [7]}])
    assert [each.prompt for each in asked.prompts] == [
        "a",
        Conversation((Message("user", "Hi"),), (Tool("f"),)),
        (7,),
    ]
    assert not asked.alone


def test_what_is_warmed_is_pinned_only_if_a_ttl_says_so() -> None:
    assert warm(prompt="a").ttl is None
    assert warm(prompt="a", ttl=5).ttl == 5
    assert warm(prompts=[{"prompt": "a"}], ttl=5, priority=3).priority == 3


def test_a_pin_has_a_time_to_live_and_the_lowest_priority_unless_told() -> None:
    assert (pin(prompt="a").ttl, pin(prompt="a").priority) == (DEFAULT_TTL, 0)
    assert (pin(prompt="a", ttl=0.5).ttl, pin(prompt="a", priority=100).priority) == (0.5, 100)
    assert pin(prompt="a", ttl=LONGEST_TTL).ttl == LONGEST_TTL


@pytest.mark.parametrize("ttl", [0, -1, LONGEST_TTL + 1, "soon", True])
def test_a_ttl_out_of_range_is_refused_by_name(ttl: Any) -> None:
    assert param(pin, prompt="a", ttl=ttl) == "ttl"
    assert param(warm, prompts=[{"prompt": "a"}], ttl=ttl) == "ttl"


@pytest.mark.parametrize("priority", [-1, 101, 1.5, "high"])
def test_a_priority_out_of_range_is_refused_by_name(priority: Any) -> None:
    assert param(pin, prompt="a", priority=priority) == "priority"


def test_there_is_at_least_one_prompt_and_at_most_so_many() -> None:
    most = [{"tokens": [1]}] * MOST_PROMPTS
    assert len(warm(prompts=most).prompts) == MOST_PROMPTS
    assert param(warm, prompts=[*most, {"tokens": [1]}]) == "prompts"
    assert param(warm, prompts=[]) == "prompts"


@pytest.mark.parametrize(
    ("second", "at"),
    [
        ({}, "prompts[1]"),
        ({"prompt": "a", "tokens": [1]}, "prompts[1]"),
        ({"tokens": ["a"]}, "prompts[1].tokens[0]"),
        ({"messages": [{"role": "user"}]}, "prompts[1].messages[0].content"),
        ({"messages": [*HI, {"role": "king", "content": "a"}]}, "prompts[1].messages[1].role"),
        ({"messages": "Hi"}, "prompts[1].messages"),
        (
            {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]},
            "prompts[1].messages[0].content[0].type",
        ),
    ],
)
def test_a_fault_in_a_list_is_named_with_its_place(second: dict[str, Any], at: str) -> None:
    assert param(warm, prompts=[{"prompt": "a"}, second]) == at


@pytest.mark.parametrize("form", [{"prompt": "a"}, {"tokens": [1]}, {"messages": HI}])
def test_a_prompt_beside_a_list_of_prompts_is_refused(form: dict[str, Any]) -> None:
    with pytest.raises(ApiError, match="prompts"):
        warm(prompts=[{"prompt": "a"}], **form)


def test_what_stands_beside_the_list_holds_for_each_that_has_none_of_its_own() -> None:
    """Else a salt or a model there would be lost without a word, and the wrong thing warmed."""
    own = {"messages": HI, "model": "n", "cache_salt": "t", "add_special_tokens": True}
    asked = warm(
        prompts=[{"messages": HI}, own],
        model="m",
        cache_salt="s",
        add_special_tokens=False,
        tools=TOOLS,
    )
    first, second = asked.prompts
    assert (first.model, first.cache_salt, first.special_tokens) == ("m", "s", False)
    assert (second.model, second.cache_salt, second.special_tokens) == ("n", "t", True)
    assert isinstance(first.prompt, Conversation)
    assert first.prompt.tools == (Tool("f"),)


def test_a_pin_takes_no_list() -> None:
    with pytest.raises(ApiError):
        pin(prompts=[{"prompt": "a"}])
