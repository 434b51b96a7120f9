"""The grammars, judged by llguidance itself."""

import json
from dataclasses import replace
from typing import Any

import pytest
from llguidance import LLMatcher, LLTokenizer
from tests.text.conversations import CLOCK, WEATHER
from tokenizers import Tokenizer

from headstart.text.chat import Tool
from headstart.text.codec import Codec
from headstart.text.tool_grammar import PROSE
from headstart.text.tools import HermesFormat, Llama3Format, MistralFormat, ToolFormat

TOOLS = (WEATHER, CLOCK)
PARIS = '{"unit": "c", "city": "Paris"}'


def wrap(name: str, *calls: tuple[str, str]) -> str:
    key = "parameters" if name == "llama3" else "arguments"
    written = [f'{{"name": "{tool}", "{key}": {arguments}}}' for tool, arguments in calls]
    match name:
        case "hermes":
            return "\n".join(f"<tool_call>\n{call}\n</tool_call>" for call in written)
        case "llama3":
            return "; ".join(written)
        case _:
            return f"[TOOL_CALLS][{', '.join(written)}]"


@pytest.fixture(scope="session")
def guide(default_codec: Codec) -> LLTokenizer:
    return LLTokenizer(default_codec.tokenizer_json, eos_token=list(default_codec.eos_ids))


def accepts(guide: LLTokenizer, grammar: str, text: str) -> bool:
    """Whether the whole text, and not just a beginning, is in the grammar."""
    matcher = LLMatcher(guide, LLMatcher.grammar_from_lark(grammar))
    assert not matcher.is_error(), matcher.get_error()
    ids = guide.tokenize_str(text)
    return matcher.try_consume_tokens(ids) == len(ids) and matcher.is_accepting()


FORMATS: list[ToolFormat] = [HermesFormat(), Llama3Format(), MistralFormat(None, spaced=False)]


@pytest.mark.parametrize("tool_format", FORMATS, ids=lambda f: f.name)
def test_valid_calls_of_any_tool_are_allowed_and_nothing_else(
    guide: LLTokenizer, tool_format: ToolFormat
) -> None:
    grammar = tool_format.grammar(TOOLS, None, parallel=False)
    name = tool_format.name
    assert accepts(guide, grammar, wrap(name, ("get_weather", PARIS)))
    assert accepts(guide, grammar, wrap(name, ("clock", "{}")))
    for refused in [
        "Hello",
        wrap(name, ("other", "{}")),
        wrap(name, ("get_weather", "{}")),
        wrap(name, ("get_weather", '{"unit": "k", "city": "Paris"}')),
        wrap(name, ("get_weather", '{"unit": "c", "city": "Paris", "x": 1}')),
        wrap(name, ("get_weather", '{"unit": "c", "city": 3}')),
        wrap(name, ("clock", "{}"), ("clock", "{}")),
    ]:
        assert not accepts(guide, grammar, refused)


@pytest.mark.parametrize("tool_format", FORMATS, ids=lambda f: f.name)
def test_a_named_tool_is_the_only_one_allowed(guide: LLTokenizer, tool_format: ToolFormat) -> None:
    grammar = tool_format.grammar(TOOLS, ["clock"], parallel=False)
    assert accepts(guide, grammar, wrap(tool_format.name, ("clock", "{}")))
    assert not accepts(guide, grammar, wrap(tool_format.name, ("get_weather", PARIS)))


@pytest.mark.parametrize(
    ("tool_format", "several"), [*zip(FORMATS, [True, False, True], strict=True)]
)
def test_parallel_allows_several_where_the_family_can(
    guide: LLTokenizer, tool_format: ToolFormat, several: bool
) -> None:
    grammar = tool_format.grammar(TOOLS, None, parallel=True)
    two = wrap(tool_format.name, ("get_weather", PARIS), ("clock", "{}"))
    assert accepts(guide, grammar, wrap(tool_format.name, ("clock", "{}")))
    assert accepts(guide, grammar, two) is several


STRICT = (replace(WEATHER, strict=True), CLOCK)
BAD_ARGUMENTS = '{"unit": "k", "city": 3}'


@pytest.mark.parametrize("tool_format", FORMATS, ids=lambda f: f.name)
def test_where_calls_are_free_so_is_text_and_strict_tools_are_obeyed(
    guide: LLTokenizer, tool_format: ToolFormat
) -> None:
    grammar = tool_format.grammar(STRICT, None, parallel=True, otherwise=PROSE)
    name = tool_format.name
    mark = {"hermes": "", "llama3": "<|python_tag|>", "mistral": ""}[name]
    good, bad = wrap(name, ("get_weather", PARIS)), wrap(name, ("get_weather", BAD_ARGUMENTS))
    for said in ("", "Hello.\n\n{x} <tool", good, f"Let me see. {mark}{good}"):
        assert accepts(guide, grammar, said), said
    # Whatever an object holds is allowed to a tool that isn't strict, as it is without a grammar.
    assert accepts(guide, grammar, wrap(name, ("clock", '{"x": 1}')))
    for said in (bad, f"Let me see. {mark}{bad}", wrap(name, ("other", "{}"))):
        assert not accepts(guide, grammar, said), said


@pytest.mark.parametrize("tool_format", FORMATS, ids=lambda f: f.name)
def test_a_free_call_is_of_a_tool_that_is_allowed(
    guide: LLTokenizer, tool_format: ToolFormat
) -> None:
    grammar = tool_format.grammar(TOOLS, ["clock"], parallel=True, otherwise=PROSE)
    assert accepts(guide, grammar, "Hello")
    assert accepts(guide, grammar, wrap(tool_format.name, ("clock", "{}")))
    assert not accepts(guide, grammar, wrap(tool_format.name, ("get_weather", PARIS)))


@pytest.mark.parametrize("parallel", [True, False])
def test_free_calls_are_one_or_several_with_text_between_them(
    guide: LLTokenizer, parallel: bool
) -> None:
    grammar = HermesFormat().grammar(STRICT, None, parallel, PROSE)
    call = wrap("hermes", ("get_weather", PARIS))
    assert accepts(guide, grammar, f"First: {call}")
    assert accepts(guide, grammar, f"{call}\n{call}") is parallel
    assert accepts(guide, grammar, f"{call}\nand {call} done") is parallel
    assert not accepts(guide, grammar, f"{call}\n{wrap('hermes', ('get_weather', BAD_ARGUMENTS))}")


@pytest.mark.parametrize("tool_format", FORMATS, ids=lambda f: f.name)
def test_what_has_to_be_json_is_that_or_a_call(guide: LLTokenizer, tool_format: ToolFormat) -> None:
    properties = {"x": {"$ref": "#/$defs/x"}, "name": {"type": "integer"}}
    schema = json.dumps(
        {
            "type": "object",
            "properties": properties,
            "required": ["x"],
            "$defs": {"x": {"type": "integer"}},
        }
    )
    grammar = tool_format.grammar(STRICT, None, parallel=False, otherwise=schema)
    name = tool_format.name
    assert accepts(guide, grammar, '{"x": 1}')
    assert accepts(guide, grammar, '{"x": 1, "name": 2}')
    assert accepts(guide, grammar, wrap(name, ("get_weather", PARIS)))
    for said in ("Hello", '{"x": "1"}', wrap(name, ("get_weather", BAD_ARGUMENTS))):
        assert not accepts(guide, grammar, said), said


def test_a_free_call_of_mistral_begins_with_its_special_token(
    sentencepiece_like: Tokenizer,
) -> None:
    mark = sentencepiece_like.token_to_id("[TOOL_CALLS]")
    grammar = MistralFormat(mark, spaced=True).grammar(STRICT, None, False, PROSE)
    guide = LLTokenizer(sentencepiece_like.to_str(), eos_token=2)
    matcher = LLMatcher(guide, LLMatcher.grammar_from_lark(grammar))
    assert not matcher.is_error(), matcher.get_error()
    said = guide.tokenize_str("hi")
    assert matcher.try_consume_tokens(said) == len(said)
    assert matcher.is_accepting()
    assert matcher.try_consume_tokens([mark]) == 1
    assert not matcher.is_accepting()
    assert matcher.compute_ff_bytes().startswith(b' [{"name": "')


@pytest.mark.parametrize("tool_format", FORMATS, ids=lambda f: f.name)
def test_what_the_grammar_allows_the_parser_reads(tool_format: ToolFormat) -> None:
    parser = tool_format.parser()
    events = parser.feed(wrap(tool_format.name, ("get_weather", PARIS))) + parser.finish(cut=False)
    assert [type(event).__name__ for event in events] == ["CallStart", "CallArguments"]


def test_the_special_token_of_mistral_begins_the_call_and_reaches_the_parser(
    sentencepiece_like: Tokenizer,
) -> None:
    mark = sentencepiece_like.token_to_id("[TOOL_CALLS]")
    grammar = MistralFormat(mark, spaced=True).grammar(TOOLS, None, parallel=False)
    guide = LLTokenizer(sentencepiece_like.to_str(), eos_token=2)
    matcher = LLMatcher(guide, LLMatcher.grammar_from_lark(grammar))
    assert not matcher.is_error(), matcher.get_error()
    assert matcher.try_consume_tokens([mark]) == 1
    assert matcher.compute_ff_bytes().startswith(b' [{"name": "')


def test_marks_of_the_format_are_text_though_they_are_special_tokens(
    sentencepiece_like: Tokenizer, make_directory: Any
) -> None:
    template = "{{ tools }}[TOOL_CALLS]"
    codec = Codec.from_directory(make_directory(sentencepiece_like, chat_template=template))
    output = '[TOOL_CALLS] [{"name": "clock", "arguments": {}}]</s>'
    detokenizer = codec.detokenizer(codec.encode("[INST] hi"))
    parser = codec.tool_format.parser()
    events = [e for id_ in codec.encode(output) for e in parser.feed(detokenizer.feed(id_))]
    assert [type(event).__name__ for event in events] == ["CallStart", "CallArguments"]


def test_names_and_schemas_of_any_spelling_are_carried(guide: LLTokenizer) -> None:
    tool = Tool('odd "name" é\\', None, {"properties": {'k"é': {"const": 'v"\\'}}})
    grammar = HermesFormat().grammar([tool], None, parallel=False)
    assert LLMatcher.validate_grammar_with_warnings(
        LLMatcher.grammar_from_lark(grammar), guide
    ) == (
        False,
        [],
    )


def test_arguments_are_an_object_even_if_the_schema_says_otherwise(guide: LLTokenizer) -> None:
    grammar = HermesFormat().grammar([Tool("f", None, {"type": "string"})], None, parallel=False)
    assert accepts(guide, grammar, wrap("hermes", ("f", '{"x": 1}')))
    assert not accepts(guide, grammar, wrap("hermes", ("f", '"x"')))


def test_a_tool_without_parameters_takes_the_empty_object_only(guide: LLTokenizer) -> None:
    grammar = HermesFormat().grammar([Tool("f")], None, parallel=False)
    assert accepts(guide, grammar, wrap("hermes", ("f", "{}")))
    assert not accepts(guide, grammar, wrap("hermes", ("f", '{"x": 1}')))


def test_references_within_a_schema_are_followed(guide: LLTokenizer) -> None:
    schema = {
        "type": "object",
        "properties": {"p": {"$ref": "#/$defs/point"}},
        "required": ["p"],
        "$defs": {"point": {"enum": ["north", "south"]}},
    }
    grammar = HermesFormat().grammar([Tool("f", None, schema)], None, parallel=False)
    assert accepts(guide, grammar, wrap("hermes", ("f", '{"p": "north"}')))
    assert not accepts(guide, grammar, wrap("hermes", ("f", '{"p": "up"}')))


@pytest.mark.parametrize("tool_format", FORMATS, ids=lambda f: f.name)
def test_strangers_and_an_empty_choice_are_refused(tool_format: ToolFormat) -> None:
    with pytest.raises(ValueError, match="names 'nope'"):
        tool_format.grammar(TOOLS, ["nope"], parallel=False)
    with pytest.raises(ValueError, match="no tool to call"):
        tool_format.grammar((), None, parallel=False)


def test_an_object_that_names_its_properties_has_no_others_unless_it_speaks_of_them(
    guide: LLTokenizer,
) -> None:
    inner = {"type": "object", "properties": {"x": {"type": "integer"}}}
    shut = {"properties": {"inner": inner, "many": {"type": "array", "items": inner}}}
    hermes = HermesFormat()

    def takes(parameters: dict[str, Any], arguments: str) -> bool:
        grammar = hermes.grammar((Tool("f", None, parameters),), None, parallel=False)
        return accepts(guide, grammar, wrap("hermes", ("f", arguments)))

    assert takes(shut, '{"inner": {"x": 1}, "many": [{"x": 2}]}')
    assert not takes(shut, '{"inner": {"x": 1}, "y": 2}')
    assert not takes(shut, '{"inner": {"x": 1, "y": 2}}')
    assert not takes(shut, '{"many": [{"y": 2}]}')
    assert takes({**shut, "additionalProperties": True}, '{"y": 2}')
    assert takes({"type": "object"}, '{"y": 2}')
