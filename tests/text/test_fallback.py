"""Tools with the default model, whose template knows none: `text/fallback.py`'s rules."""

import json

from tests.text.conversations import CALLED, CLOCK, PLAIN, WEATHER, WITH_TOOLS

from headstart.text.chat import Conversation, Message, Tool, ToolCall
from headstart.text.codec import Codec
from headstart.text.fallback import without_tools
from headstart.text.tools import CallArguments, CallStart


def test_the_tools_are_in_the_prompt_word_for_word(default_codec: Codec) -> None:
    prompt = default_codec.render(WITH_TOOLS)
    listed = prompt[prompt.index("<tools>\n") + 8 : prompt.index("\n</tools>\n\n")]
    described = [json.loads(line)["function"] for line in listed.splitlines()]
    assert described == [
        {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
        for tool in (WEATHER, CLOCK)
    ]


def test_the_section_begins_the_system_message_or_makes_one() -> None:
    prepended, *_ = without_tools(CALLED).messages
    made, question = without_tools(WITH_TOOLS).messages
    assert prepended.role == made.role == "system"
    assert prepended.content == f"{made.content}\n\nBe brief."
    assert question == WITH_TOOLS.messages[0]


def test_stab_14_another_system_text_leaves_the_tools_prefix_as_it_is(default_codec: Codec) -> None:
    tools, asked = (WEATHER, CLOCK), Message("user", "?")
    one, other = (
        default_codec.render(Conversation((Message("system", text), asked), tools))
        for text in ("Be brief.", "Answer in rhymes.")
    )
    assert one != other
    through = one.index("</tools>") + len("</tools>")
    assert one[:through] == other[:through]


def test_calls_and_results_become_text_and_roles_still_alternate() -> None:
    calls = (ToolCall("1", "f", '{"a":1}'), ToolCall("2", "g", "{}"))
    messages = (
        Message("user", "?"),
        Message("assistant", "Let me see.", tool_calls=calls),
        Message("tool", "one", tool_call_id="1"),
        Message("tool", "two", tool_call_id="2"),
        Message("assistant", "Done."),
    )
    assert without_tools(Conversation(messages)).messages == (
        Message("user", "?"),
        Message(
            "assistant",
            'Let me see.\n<tool_call>\n{"name": "f", "arguments": {"a":1}}\n</tool_call>\n'
            '<tool_call>\n{"name": "g", "arguments": {}}\n</tool_call>',
        ),
        Message(
            "user",
            "<tool_response>\none\n</tool_response>\n<tool_response>\ntwo\n</tool_response>",
        ),
        Message("assistant", "Done."),
    )


def test_a_result_at_the_end_is_not_lost() -> None:
    messages = (Message("tool", "42", tool_call_id="1"),)
    (last,) = without_tools(Conversation(messages)).messages
    assert last == Message("user", "<tool_response>\n42\n</tool_response>")


def test_conversations_without_tools_are_left_alone() -> None:
    assert without_tools(PLAIN) == PLAIN


def test_turn_05_a_parsed_call_renders_back_to_the_generated_text(default_codec: Codec) -> None:
    generated = 'I look.\n<tool_call>\n{"name": "f", "arguments": {"a":1, "b":"é"}}\n</tool_call>'
    parser = default_codec.tool_format.parser()
    events = [*parser.feed(generated), *parser.finish(cut=False)]
    text, start, arguments = events
    assert isinstance(start, CallStart)
    assert isinstance(arguments, CallArguments)
    call = ToolCall("1", start.name, arguments.json_fragment)
    asked = (Message("user", "?"),)
    before = default_codec.render(Conversation(asked, (Tool("f"),)))
    answer = Message("assistant", text.text, tool_calls=(call,))  # type: ignore[union-attr]
    after = default_codec.render(Conversation((*asked, answer), (Tool("f"),)))
    assert after.startswith(before + generated)
