"""A request's blocks in the order in which Anthropic caches them."""

from typing import Any

from tests.dialects.anthropic.bodies import (
    CALLED,
    HELLO,
    RESULT,
    TIME,
    WEATHER,
    marked,
    parse,
    text,
    user,
)

from headstart.contracts.prompt import Mark
from headstart.dialects.chat import Part


def parts(**fields: Any) -> tuple[Part, ...]:
    return parse(**fields).parts


def digests(**fields: Any) -> list[bytes]:
    return [part.digest for part in parts(**fields)]


def test_tools_come_first_then_the_system_prompt_then_the_messages() -> None:
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
    answer = {"role": "assistant", "content": [thought, *CALLED["content"]]}
    found = parts(
        tools=[WEATHER, TIME],
        system="Be brief.",
        messages=[HELLO, answer, user(RESULT, text("And?")), {"role": "system", "content": "x"}],
    )
    assert [(part.kind, part.path, part.message, part.markable) for part in found] == [
        ("tool", "tools.0", -1, True),
        ("tool", "tools.1", -1, True),
        ("system", "system.0", -1, True),
        ("user", "messages.0.content.0", 0, True),
        ("thinking", "messages.1.content.0", 1, False),
        ("assistant", "messages.1.content.1", 1, True),
        ("tool_use", "messages.1.content.2", 1, True),
        ("tool_result", "messages.2.content.0.content.0", 2, True),
        ("tool_result", "messages.2.content.0", 2, True),
        ("user", "messages.2.content.1", 2, True),
        ("system", "messages.3.content.0", 3, True),
    ]


def test_marks_are_read_wherever_they_may_stand() -> None:
    plain = {"type": "text", "media_type": "text/plain", "data": "Once."}
    call = {**CALLED["content"][1], **marked()}
    found = parts(
        tools=[{**WEATHER, **marked("1h")}],
        system=[text("a", **marked("1h"))],
        messages=[
            user(
                text("b", **marked()),
                {"type": "document", "source": plain, **marked()},
                {
                    "type": "search_result",
                    "source": "s",
                    "title": "t",
                    "content": [text("z")],
                    **marked(),
                },
            ),
            {"role": "assistant", "content": [call]},
            user({**RESULT, "content": [text("c", **marked("5m"))], **marked()}),
            {"role": "system", "content": [text("d", **marked())]},
        ],
    )
    assert [part.mark for part in found] == [
        Mark("1h"), Mark("1h"), Mark(), Mark(), Mark(), Mark(), Mark("5m"), Mark(), Mark(),
    ]  # fmt: skip


def test_a_mark_changes_no_digest() -> None:
    plain = digests(tools=[WEATHER], system=[text("a")], messages=[user(text("b"))])
    assert plain == digests(
        tools=[{**WEATHER, **marked()}],
        system=[text("a", **marked())],
        messages=[user(text("b", **marked("1h")))],
    )
    result = [HELLO, CALLED, user({**RESULT, "content": [text("c")]})]
    assert digests(messages=result) == digests(
        messages=[HELLO, CALLED, user({**RESULT, "content": [text("c", **marked())]})]
    )


def test_a_string_is_short_for_one_block() -> None:
    assert digests(system="a", messages=[HELLO, CALLED, user(RESULT)]) == digests(
        system=[text("a")],
        messages=[user(text("hi")), CALLED, user({**RESULT, "content": [text("rain")]})],
    )


def test_whatever_is_said_counts() -> None:
    base = [HELLO, CALLED, user(RESULT)]
    call = CALLED["content"][1]

    def called(**fields: Any) -> dict[str, Any]:
        return {"role": "assistant", "content": [CALLED["content"][0], {**call, **fields}]}

    variants = [
        parts(messages=base),
        parts(messages=[HELLO, called(name="time"), user(RESULT)]),
        parts(messages=[HELLO, called(input={}), user(RESULT)]),
        parts(messages=[HELLO, CALLED, user({**RESULT, "content": "sun"})]),
        parts(messages=[HELLO, CALLED, user({**RESULT, "is_error": True})]),
        parts(tools=[WEATHER], messages=base),
        parts(tools=[{**WEATHER, "description": "Then."}], messages=base),
        parts(
            tools=[{**WEATHER, "input_schema": {"type": "object", "properties": {"a": {}}}}],
            messages=base,
        ),
        parts(system="hi", messages=base),
    ]
    assert len({tuple(part.digest for part in each) for each in variants}) == len(variants)


def test_the_order_of_a_schemas_keys_counts() -> None:
    turned = {"type": "object", "properties": {"a": {}, "z": {}}}
    assert digests(tools=[WEATHER]) != digests(tools=[{**WEATHER, "input_schema": turned}])


def test_thoughts_show_nothing_and_a_result_what_it_is_made_of() -> None:
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
    answer = {"role": "assistant", "content": [thought, *CALLED["content"]]}
    found = parts(messages=[HELLO, answer, user(RESULT)])
    assert [part.shown for part in found] == [
        ("hi",), (), ("I look.",), ("weather", '{"city": "Zürich"}'), ("rain",), (),
    ]  # fmt: skip
