import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headstart.text.tools import (
    CallArguments,
    CallStart,
    Event,
    HermesFormat,
    Llama3Format,
    MistralFormat,
    Text,
    ToolFormat,
    detect_format,
)

HERMES, LLAMA3, MISTRAL = HermesFormat(), Llama3Format(), MistralFormat(None, spaced=False)
FORMATS = {"hermes": HERMES, "llama3": LLAMA3, "mistral": MISTRAL}

ARGUMENTS = '{"a":1, "b" : "</tool_call> ] } \\" [TOOL_CALLS] é\\n", "c": [{}, [1]]}'
Outcome = tuple[str, list[tuple[str, str]]]

# Output, the text in it, the calls in it.
HERMES_CASES: list[tuple[str, str, list[tuple[str, str]]]] = [
    ("Hello <b>you</b>\n", "Hello <b>you</b>\n", []),
    (
        f'<tool_call>\n{{"name": "f", "arguments": {ARGUMENTS}}}\n</tool_call>',
        "",
        [("f", ARGUMENTS)],
    ),
    (
        'Let me.\n<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>\n'
        '<tool_call>{"arguments": {"x": 1}, "name": "g"}</tool_call>',
        "Let me.",
        [("f", "{}"), ("g", '{"x": 1}')],
    ),
    ('<tool_call>{"name": "f"}</tool_call> bye', " bye", [("f", "{}")]),
    # The end of the output may come before the closing tag is complete.
    ('<tool_call>{"name": "f", "arguments": {}}\n</tool', "", [("f", "{}")]),
    ('<tool_call>{"name": "f", "arguments": {}}', "", [("f", "{}")]),
]
HERMES_TEXT = [
    "a <tool_call",
    "<tool_call> is the tag",
    "\n<tool_call>",
    "<tool_call><tool_call>",
    '<tool_call>{"name": "f", "arguments": {"a": 1',
    '<tool_call>{"name": "f", "arguments": {"a": tru}}</tool_call>',
    '<tool_call>{"name": "f", "arguments": "{}"}</tool_call>',
    '<tool_call>{"name": 3, "arguments": {}}</tool_call>',
    '<tool_call>{"arguments": {}}</tool_call>',
    '<tool_call>{"name": "f", "arguments": {"a": NaN}}</tool_call>',
    '<tool_call>{"name": "f", "arguments": {}} and more',
    '<tool_call>["f"]</tool_call>',
    "<tool_call>{}</tool_call>",
    '<tool_call>{"city": "Paris"}</tool_call>',
]
LLAMA3_CASES: list[tuple[str, str, list[tuple[str, str]]]] = [
    (f'{{"name": "f", "parameters": {ARGUMENTS}}}', "", [("f", ARGUMENTS)]),
    ('<|python_tag|>{"name": "f", "parameters": {}}', "", [("f", "{}")]),
    (
        ' \n{"type": "function", "name": "f", "parameters": {}}; {"name": "g", "parameters": {}}',
        "",
        [("f", "{}"), ("g", "{}")],
    ),
    ('Sure. <|python_tag|>{"name": "f", "parameters": {}}', "Sure. ", [("f", "{}")]),
    ('{"name": "f", "parameters": {}} done', " done", [("f", "{}")]),
]
LLAMA3_TEXT = [
    "Hello {you}",
    '{"answer": {"name": "f"}}',
    '{"name": "f", "parameters": {',
    "<|python_tag|>print(1)",
    'Say {"name": "f", "parameters": {}}',
    "{",
    "  ",
    "<|python",
]
MISTRAL_CASES: list[tuple[str, str, list[tuple[str, str]]]] = [
    (
        f'[TOOL_CALLS][{{"name": "f", "arguments": {ARGUMENTS}}}]',
        "",
        [("f", ARGUMENTS)],
    ),
    (
        'Ok [TOOL_CALLS] [{"name": "f", "arguments": {}, "id": "abcdefgh1"}, '
        '{"name":"g","arguments":{"a":2}}]',
        "Ok ",
        [("f", "{}"), ("g", '{"a":2}')],
    ),
]
MISTRAL_TEXT = [
    "[TOOL_CALLS]",
    "[TOOL",
    "[TOOL_CALLS] are made so",
    "[TOOL_CALLS][]",
    '[TOOL_CALLS][{"name": "f", "arguments": {}}',
    '[TOOL_CALLS][{"name": "f", "arguments": {}} {"name": "g", "arguments": {}}]',
    '[TOOL_CALLS][{"name": "f", "arguments": {}}, 3]',
]
CASES = [
    *((HERMES, *case) for case in HERMES_CASES),
    *((HERMES, text, text, []) for text in HERMES_TEXT),
    *((LLAMA3, *case) for case in LLAMA3_CASES),
    *((LLAMA3, text, text, []) for text in LLAMA3_TEXT),
    *((MISTRAL, *case) for case in MISTRAL_CASES),
    *((MISTRAL, text, text, []) for text in MISTRAL_TEXT),
]


def parse(tool_format: ToolFormat, chunks: list[str], *, cut: bool = False) -> list[Event]:
    parser = tool_format.parser()
    return [event for chunk in chunks for event in parser.feed(chunk)] + parser.finish(cut=cut)


def outcome(events: list[Event]) -> Outcome:
    text = "".join(event.text for event in events if isinstance(event, Text))
    calls: list[tuple[str, str]] = []
    for event in events:
        match event:
            case CallStart(index, name):
                assert index == len(calls)
                calls.append((name, ""))
            case CallArguments(index, fragment):
                calls[index] = (calls[index][0], calls[index][1] + fragment)
    return text, calls


@pytest.mark.parametrize(("tool_format", "output", "text", "calls"), CASES)
def test_calls_are_read_and_everything_else_is_text_wherever_the_output_is_cut(
    tool_format: ToolFormat, output: str, text: str, calls: list[tuple[str, str]]
) -> None:
    splits = [[output[:cut], output[cut:]] for cut in range(len(output) + 1)]
    for chunks in [*splits, list(output)]:
        assert outcome(parse(tool_format, chunks)) == (text, calls)


# Where an answer ends for lack of room: output, the text in it, the calls in it.
CUT_CASES: list[tuple[ToolFormat, str, str, list[tuple[str, str]]]] = [
    (HERMES, '<tool_call>\n{"name": "f", "arguments": {"a": 1', "", [("f", '{"a": 1')]),
    (HERMES, 'So.\n<tool_call>{"name": "f", "arguments": {"a": "{', "So.", [("f", '{"a": "{')]),
    (HERMES, '<tool_call>{"name": "f", "arguments": {"a": 1}', "", [("f", '{"a": 1}')]),
    (HERMES, '<tool_call>{"name": "f", "arguments": {"a": 1} ', "", [("f", '{"a": 1}')]),
    (HERMES, '<tool_call>{"name": "f", "arguments": ', "", [("f", "")]),
    (HERMES, '<tool_call>{"name": "f"', "", [("f", "")]),
    (HERMES, '<tool_call>{"name": "f", "arg', "", [("f", "")]),
    (HERMES, '<tool_call>{"arguments": {"a": 1}, "name": "f"', "", [("f", '{"a": 1}')]),
    (
        HERMES,
        '<tool_call>{"name": "f", "arguments": {}}</tool_call>\n<tool_call>{"name": "g", "arg',
        "",
        [("f", "{}"), ("g", "")],
    ),
    (LLAMA3, '{"name": "f", "parameters": {"a": [', "", [("f", '{"a": [')]),
    (LLAMA3, 'Ok <|python_tag|>{"name": "f", "parameters": {', "Ok ", [("f", "{")]),
    (MISTRAL, '[TOOL_CALLS][{"name": "f", "arguments": {"a', "", [("f", '{"a')]),
    (MISTRAL, '[TOOL_CALLS][{"name": "f", "arguments": {}}', "", [("f", "{}")]),
    (MISTRAL, '[TOOL_CALLS][{"name": "f", "arguments": {}}, ', "", [("f", "{}")]),
    (
        MISTRAL,
        '[TOOL_CALLS][{"name": "f", "arguments": {}}, {"name": "g", "arguments": {"x": "',
        "",
        [("f", "{}"), ("g", '{"x": "')],
    ),
]
CUT_TEXT = [
    (HERMES, "<tool_ca"),
    (HERMES, "<tool_call>\n"),
    (HERMES, '<tool_call>{"name": "f'),
    (HERMES, '<tool_call>{"arguments": {"a": 1}'),
    (HERMES, '<tool_call>{"name": 3, "arguments": {'),
    (HERMES, '<tool_call>{"name": "f", "arguments": "{'),
    (LLAMA3, '{"answer": {"name": "f"'),
    (LLAMA3, '{"na'),
    (MISTRAL, "[TOOL_CALLS]["),
    (MISTRAL, '[TOOL_CALLS][{"name": "f", "arguments": {"a": tru}}, {"name": "g", "arguments": {'),
    (MISTRAL, '[TOOL_CALLS][{"name": "f", "arguments": {}} {"name": "g"'),
]


@pytest.mark.parametrize(
    ("tool_format", "output", "text", "calls"),
    [*CUT_CASES, *((tool_format, text, text, []) for tool_format, text in CUT_TEXT)],
)
def test_a_call_that_is_cut_counts_from_its_name_on(
    tool_format: ToolFormat, output: str, text: str, calls: list[tuple[str, str]]
) -> None:
    for chunks in ([output], list(output)):
        assert outcome(parse(tool_format, chunks, cut=True)) == (text, calls)


@pytest.mark.parametrize(("tool_format", "output", "text", "calls"), CASES)
def test_a_whole_call_is_read_alike_where_the_answer_is_cut(
    tool_format: ToolFormat, output: str, text: str, calls: list[tuple[str, str]]
) -> None:
    if calls:
        assert outcome(parse(tool_format, [output], cut=True)) == (text, calls)


@pytest.mark.parametrize("name", FORMATS)
@given(st.data())
def test_arguments_that_are_cut_are_a_beginning_of_the_whole(
    name: str, data: st.DataObject
) -> None:
    output = {
        "hermes": f'<tool_call>\n{{"name": "f", "arguments": {ARGUMENTS}}}\n</tool_call>',
        "llama3": f'{{"name": "f", "parameters": {ARGUMENTS}}}',
        "mistral": f'[TOOL_CALLS][{{"name": "f", "arguments": {ARGUMENTS}}}]',
    }[name]
    begin = output.index(ARGUMENTS)
    at = data.draw(st.integers(begin, len(output)))
    text, calls = outcome(parse(FORMATS[name], [output[:at]], cut=True))
    assert (text, calls) == ("", [("f", output[begin : min(at, begin + len(ARGUMENTS))])])


@pytest.mark.parametrize("name", FORMATS)
@given(st.data())
def test_any_output_gives_the_same_however_it_is_split(name: str, data: st.DataObject) -> None:
    """Bits of calls in any order: the meaning is that of the whole, and no text is lost."""
    bits = ["<tool_call>", "</tool_call>", "[TOOL_CALLS]", "<|python_tag|>", "[", "]", "{", "}"]
    bits += ['{"name": "f", "arguments": {}}', '{"name": "', '"', "\\", "\n", ", ", ";", "a"]
    chunks = data.draw(st.lists(st.sampled_from(bits), max_size=14))
    output = "".join(chunks)
    cut = data.draw(st.booleans())
    whole = outcome(parse(FORMATS[name], [output], cut=cut))
    assert outcome(parse(FORMATS[name], chunks, cut=cut)) == whole
    assert outcome(parse(FORMATS[name], list(output), cut=cut)) == whole
    if not whole[1]:
        assert whole[0] == output


@pytest.mark.parametrize("name", FORMATS)
@given(
    st.dictionaries(
        st.text(max_size=6),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(max_size=12),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(st.text(max_size=4), inner, max_size=3)
            ),
            max_leaves=6,
        ),
        max_size=4,
    ),
    st.booleans(),
    st.sampled_from([None, 2]),
)
def test_turn_05_any_arguments_come_out_byte_for_byte(
    name: str, value: dict[str, object], ascii_only: bool, indent: int | None
) -> None:
    arguments = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    output = {
        "hermes": f'<tool_call>\n{{"name": "f", "arguments": {arguments}}}\n</tool_call>',
        "llama3": f'{{"name": "f", "parameters": {arguments}}}',
        "mistral": f'[TOOL_CALLS][{{"name": "f", "arguments": {arguments}}}]',
    }[name]
    assert outcome(parse(FORMATS[name], list(output))) == ("", [("f", arguments)])


@pytest.mark.parametrize(
    ("tool_format", "text"),
    [
        (HERMES, "An answer, line 1.\nLine 2 <b>!"),
        (LLAMA3, '{"answer": 42, "name": "deep thought"}'),
        (LLAMA3, "An answer"),
        (MISTRAL, "An answer [1]"),
    ],
)
def test_ordinary_output_is_not_held_to_the_end(tool_format: ToolFormat, text: str) -> None:
    parser = tool_format.parser()
    streamed = outcome([event for character in text for event in parser.feed(character)])[0]
    assert len(streamed) >= len(text) - 1
    assert text.startswith(streamed)


@pytest.mark.parametrize(
    ("template", "name"),
    [
        ("{{ messages }}", "hermes"),
        ("<tool_call>", "hermes"),
        ("Environment: ipython", "llama3"),
        ("<|python_tag|>", "llama3"),
        ("[TOOL_CALLS]", "mistral"),
    ],
)
def test_the_format_is_the_one_the_template_writes(template: str, name: str) -> None:
    assert detect_format(template, {}).name == name
