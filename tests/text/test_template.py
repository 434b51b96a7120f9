"""Rendering, against transformers' `apply_chat_template` on the same template."""

import datetime
import json
from pathlib import Path
from typing import Any

import pytest
from tests.text.conversations import ALL, CALLED, NO_SYSTEM, PLAIN, WEATHER, as_dicts
from tokenizers import Tokenizer

from headstart.text.chat import Conversation, Message, Tool, ToolCall
from headstart.text.codec import Codec
from headstart.text.errors import TemplateError
from headstart.text.template import ChatTemplate

TEMPLATES = Path(__file__).parent / "templates"
SPECIAL = {"bos_token": "<s>", "eos_token": "</s>"}


def family(name: str, date: datetime.date | None = None) -> ChatTemplate:
    source = (TEMPLATES / f"{name}.jinja").read_text()
    return ChatTemplate({"default": source}, SPECIAL, date)


def inline(source: str, **named: str) -> ChatTemplate:
    return ChatTemplate({"default": source, **named}, SPECIAL)


def user(content: str) -> Conversation:
    return Conversation((Message("user", content),))


@pytest.fixture(scope="session")
def reference(sentencepiece_like: Tokenizer) -> Any:
    from transformers import PreTrainedTokenizerFast

    return PreTrainedTokenizerFast(tokenizer_object=sentencepiece_like, **SPECIAL)


@pytest.mark.parametrize("conversation", ALL.values(), ids=ALL.keys())
@pytest.mark.parametrize("name", ["qwen", "llama3", "mistral"])
def test_prompts_are_those_of_transformers(
    reference: Any, name: str, conversation: Conversation
) -> None:
    today = datetime.date.today()
    expected = reference.apply_chat_template(
        **as_dicts(conversation),
        chat_template=(TEMPLATES / f"{name}.jinja").read_text(),
        add_generation_prompt=True,
        tokenize=False,
    )
    assert family(name, today).render(conversation) == expected


def test_rendering_twice_gives_the_same_bytes() -> None:
    template = family("qwen")
    assert template.render(CALLED) == template.render(CALLED)


def test_stab_01_without_a_date_a_template_uses_its_own() -> None:
    assert "26 Jul 2024" in family("llama3").render(PLAIN)


def test_stab_01_a_date_set_by_the_operator_is_the_only_clock() -> None:
    rendered = family("llama3", datetime.date(2031, 2, 3)).render(PLAIN)
    assert rendered.startswith("<s>system: 03 Feb 2031\n")


def test_stab_01_a_template_that_insists_on_the_clock_is_refused_with_the_way_out() -> None:
    template = inline("{{ strftime_now('%Y') }}")
    with pytest.raises(TemplateError, match="--template-date"):
        template.render(NO_SYSTEM)


NAMES = ["zeta", "alpha", "mid", "beta"]


@pytest.fixture
def tools() -> list[Any]:
    """As a template writes four tools with four properties each."""
    properties = {name: {"type": "string"} for name in NAMES}
    given = tuple(Tool(name, None, {"properties": properties}) for name in NAMES)
    rendered = inline("{{ tools | tojson }}").render(Conversation(NO_SYSTEM.messages, given))
    return list(json.loads(rendered))


def test_stab_03_tools_keep_the_clients_order(tools: list[Any]) -> None:
    assert [tool["function"]["name"] for tool in tools] == NAMES


def test_stab_05_the_keys_of_a_schema_keep_the_clients_order(tools: list[Any]) -> None:
    assert all(list(tool["function"]["parameters"]["properties"]) == NAMES for tool in tools)


def after_a_call(name: str, arguments: str) -> str:
    call = ToolCall("abcdefgh1", "f", arguments)
    conversation = Conversation(
        (
            Message("user", "?"),
            Message("assistant", tool_calls=(call,)),
            Message("tool", "1", tool_call_id=call.id),
        ),
        (WEATHER,),
    )
    return family(name).render(conversation)


@pytest.mark.parametrize("name", ["qwen", "llama3", "mistral"])
@pytest.mark.parametrize(
    "arguments",
    ['{"a": 1, "b": "x"}', '{"a":1,"b":"x"}', '{ "b" : 1.50,\n "a": "\\u00e9" }', "{}"],
)
def test_turn_05_arguments_come_back_as_they_were_written(name: str, arguments: str) -> None:
    assert f": {arguments}" in after_a_call(name, arguments)


@pytest.mark.parametrize("name", ["qwen", "llama3", "mistral"])
@pytest.mark.parametrize("arguments", ["{", '{"a": "b', "[1]", '"{}"', '{"a": NaN}', "null"])
def test_turn_06_arguments_that_are_no_json_object_are_shown_as_they_are(
    name: str, arguments: str
) -> None:
    assert f": {arguments}" in after_a_call(name, arguments)


def test_turn_06_no_arguments_are_an_empty_object() -> None:
    assert after_a_call("qwen", "") == after_a_call("qwen", "{}")


def test_templates_can_look_into_arguments() -> None:
    template = inline(
        "{% set tools = tools %}{% for m in messages %}{% for c in m.tool_calls %}"
        "{% for key, value in c.function.arguments.items() %}{{ key }}={{ value }};{% endfor %}"
        "{% endfor %}{% endfor %}"
    )
    call = ToolCall("1", "f", '{"z":1,"a":[2]}')
    rendered = template.render(Conversation((Message("assistant", tool_calls=(call,)),)))
    assert rendered == "z=1;a=[2];"


def test_tojson_with_an_indent_is_as_json_dumps_writes_it() -> None:
    value = {"b": ["<é>"], "a": None}
    tool = Tool("f", None, value)
    rendered = inline("{{ tools[0].function.parameters | tojson(indent=2) }}").render(
        Conversation(NO_SYSTEM.messages, (tool,))
    )
    assert rendered == json.dumps(value, indent=2, ensure_ascii=False)


def test_a_tool_without_parameters_takes_an_empty_object() -> None:
    rendered = inline("{{ tools[0].function | tojson }}").render(
        Conversation(NO_SYSTEM.messages, (Tool("f"),))
    )
    assert json.loads(rendered) == {
        "name": "f",
        "parameters": {"type": "object", "properties": {}},
    }


def test_the_templates_own_refusal_reaches_the_client() -> None:
    calls = (ToolCall("abcdefgh1", "f", "{}"), ToolCall("abcdefgh2", "f", "{}"))
    conversation = Conversation((Message("assistant", tool_calls=calls),), (WEATHER,))
    with pytest.raises(TemplateError, match="only supports single tool-calls at once!"):
        family("llama3").render(conversation)


@pytest.mark.parametrize(
    "source",
    [
        "{{ messages[7].content + 'x' }}",
        "{{ 1 + 'x' }}",
        "{{ 1 // 0 }}",
        "{{ messages.append(1) }}",
        "{{ ''.__class__.__mro__ }}",
        "{% include 'etc/passwd' %}",
    ],
)
def test_whatever_goes_wrong_in_a_template_is_one_kind_of_error(source: str) -> None:
    with pytest.raises(TemplateError, match=r"refuses this conversation: ."):
        inline(source).render(NO_SYSTEM)


def test_a_template_that_does_not_parse_is_refused_at_load() -> None:
    with pytest.raises(TemplateError, match="does not parse"):
        inline("{% for %}")


def test_a_model_without_a_template_says_what_to_do() -> None:
    with pytest.raises(TemplateError, match="no chat template: use /v1/completions"):
        ChatTemplate({}, {}).render(NO_SYSTEM)


def test_developer_is_system_where_the_template_knows_no_developer() -> None:
    roles = "{% for m in messages %}{{ m.role }},{% endfor %}"
    conversation = Conversation((Message("developer", "x"), Message("user", "y")))
    assert inline(roles).render(conversation) == "system,user,"
    assert inline(roles + "{# developer #}").render(conversation) == "developer,user,"


def test_content_is_always_text() -> None:
    template = inline("{% for m in messages %}[{{ m['content'] + '!' }}]{% endfor %}")
    assert template.render(Conversation((Message("assistant"),))) == "[!]"


def test_the_tool_use_template_serves_tools_and_histories_with_calls() -> None:
    template = inline("plain", tool_use="{{ tools is none }}")
    assert template.knows_tools
    assert template.render(NO_SYSTEM) == "plain"
    assert template.render(Conversation(NO_SYSTEM.messages, (WEATHER,))) == "False"
    assert template.render(Conversation(CALLED.messages)) == "True"


@pytest.mark.parametrize(
    ("source", "knows"),
    [
        ("{% for t in tools %}{% endfor %}", True),
        ((TEMPLATES / "llama3.jinja").read_text(), True),
        ("{{ messages[0].content }} tools", False),
    ],
)
def test_a_template_knows_tools_if_it_reads_them(source: str, knows: bool) -> None:
    assert inline(source).knows_tools is knows


def test_a_template_that_writes_bos_gets_no_second_one(
    sentencepiece_like: Tokenizer, make_directory: Any
) -> None:
    template = (TEMPLATES / "mistral.jinja").read_text()
    path = make_directory(sentencepiece_like, chat_template=template, add_bos_token=True, **SPECIAL)
    codec = Codec.from_directory(path)
    assert codec.encode_chat(PLAIN).count(codec.bos_id) == 1  # type: ignore[arg-type]
