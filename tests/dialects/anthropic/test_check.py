"""Paths in Anthropic's spelling: the types of values on the way are steps."""

from typing import Any

import pytest
from tests.dialects.anthropic.bodies import CALLED, HELLO, NEW, RESULT, refused, text, user

from headstart.dialects.anthropic.request import parse_messages
from headstart.dialects.dialect import Envelope
from headstart.dialects.errors import ApiError


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"messages": [HELLO, CALLED, user({**RESULT, "content": [{"type": "text"}]})]},
            "messages.2.content.0.tool_result.content.0.text.text: Field required",
        ),
        (
            {"messages": [user(text("a", cache_control={"type": "ephemeral", "x": 1}))]},
            "messages.0.content.0.text.cache_control.ephemeral.x: Extra inputs are not permitted",
        ),
        (
            {"messages": [user({"type": "document", "source": {"type": "text"}})]},
            "messages.0.content.0.document.source.text.data: Field required",
        ),
        (
            {"system": [text("a", x=1)]},
            "system.0.x: Extra inputs are not permitted",
        ),
        (
            {"tools": [{"name": "f", "input_schema": {"type": "object"}, "x": 1}]},
            "tools.0.custom.x: Extra inputs are not permitted",
        ),
        ({"tools": [5]}, "tools.0: Input should be a valid dictionary"),
        ({"system": 5}, "system: Input should be a valid string"),
        ({"stream": "yes"}, "stream: Input should be a valid boolean"),
        (
            {"output_config": {"format": {"type": "json_schema"}}},
            "output_config.format.schema: Field required",
        ),
        (
            {"thinking": {"type": "deep"}},
            "thinking: Input tag 'deep' found using 'type' does not match any of the expected tags",
        ),
    ],
)
def test_the_first_thing_that_is_wrong_is_named(fields: dict[str, Any], message: str) -> None:
    assert refused(**fields) == message


@pytest.mark.parametrize("body", [b"[]", b"{", b"\xff", b"[" * 10_000])
def test_what_is_no_object_is_400(body: bytes) -> None:

    with pytest.raises(ApiError) as caught:
        parse_messages(body, Envelope({"anthropic-version": NEW}))
    assert caught.value.status == 400
