"""`generateContent` bodies."""

import json
from typing import Any

import pytest

from headstart.contracts.prompt import Wishes
from headstart.dialects.chat import ChatRequest, ToolChoice
from headstart.dialects.dialect import Envelope
from headstart.dialects.errors import ApiError
from headstart.dialects.gemini.generate import GeminiGenerate
from headstart.dialects.gemini.prompt import PromptFields
from headstart.dialects.gemini.request import TOGETHER, Found, GenerateFields
from headstart.dialects.gemini.wire import read
from headstart.text.chat import Tool

HI = {"contents": [{"parts": [{"text": "Hi"}]}]}
DECLARED: dict[str, Any] = {
    "tools": [
        {"functionDeclarations": [{"name": "f", "description": "F", "parameters": {}}]},
        {"function_declarations": [{"name": "g.h", "parameters_json_schema": {"type": "object"}}]},
    ]
}


def unknown(name: str, model: str) -> Found:
    raise ApiError(403, "CachedContent not found (or permission denied)")


def parse(body: dict[str, Any], find: Any = unknown) -> ChatRequest:
    raw = json.dumps(HI | body).encode()
    return GeminiGenerate(find, streaming=True).parse(raw, Envelope(path={"model": "m"}))


def config(**fields: Any) -> ChatRequest:
    return parse({"generationConfig": fields})


def mode(calling: dict[str, Any]) -> ChatRequest:
    return parse({**DECLARED, "toolConfig": {"functionCallingConfig": calling}})


def test_a_bare_body_has_googles_defaults() -> None:
    asked = parse({})
    assert (asked.model, asked.n, asked.stream) == ("m", 1, True)
    assert (asked.sampling.temperature, asked.sampling.max_tokens) == (1.0, None)
    assert (asked.json_schema, asked.tool_choice) == (None, ToolChoice("none"))


def test_every_field_of_the_generation_config_arrives() -> None:
    asked = config(
        temperature=0,
        topP=0.5,
        topK=3,
        maxOutputTokens=9,
        stopSequences=["x"],
        seed=-1,
        candidateCount=2,
        presencePenalty=0.25,
        frequencyPenalty=-0.5,
        responseLogprobs=True,
        logprobs=2,
        responseModalities=["TEXT"],
        mediaResolution="MEDIA_RESOLUTION_LOW",
        thinkingConfig={"thinkingBudget": 0},
    )
    drawn = asked.sampling
    assert (drawn.temperature, drawn.top_p, drawn.top_k, drawn.seed) == (0.0, 0.5, 3, -1)
    assert (drawn.presence_penalty, drawn.frequency_penalty) == (0.25, -0.5)
    assert (drawn.max_tokens, drawn.stop, drawn.logprobs, asked.n) == (9, ("x",), 2, 2)
    assert drawn.fitting


@pytest.mark.parametrize("name", ["thinkingBudget", "thinking_budget"])
@pytest.mark.parametrize("budget", [0, -1, "-1"])
def test_a_model_that_does_not_think_may_be_told_not_to_or_to_decide(
    name: str, budget: int | str
) -> None:
    """What it decides is what it does where nothing is said: Google's default is -1."""
    assert config(thinkingConfig={name: budget}) == config()
    if budget != 0:
        assert config(thinkingConfig={name: budget, "includeThoughts": True}) == config()
    assert config(thinkingConfig={"includeThoughts": True}) == config()


@pytest.mark.parametrize(
    ("fields", "schema"),
    [
        ({"responseMimeType": "text/plain"}, None),
        ({"responseMimeType": "application/json"}, "{}"),
        (
            {"responseMimeType": "application/json", "responseSchema": {"type": "STRING"}},
            '{"type":"string"}',
        ),
        (
            {"responseMimeType": "application/json", "responseJsonSchema": {"const": 1}},
            '{"const":1}',
        ),
    ],
)
def test_an_answer_may_have_a_schema(fields: dict[str, Any], schema: str | None) -> None:
    assert config(**fields).json_schema == schema


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"thinkingConfig": {"thinkingBudget": 100}}, "Thinking budget is not supported for this"),
        ({"thinkingConfig": {"thinking_budget": -2}}, "Thinking budget is not supported for this"),
        ({"thinkingConfig": {"thinking_budget": 1}}, "Thinking budget is not supported for this"),
        ({"thinkingConfig": {"thinkingLevel": "LOW"}}, "Thinking level is not supported for this"),
        (
            {"thinkingConfig": {"includeThoughts": True, "thinkingBudget": 0}},
            "Thinking is not enabled for models/m",
        ),
        ({"responseModalities": ["IMAGE"]}, "TEXT"),
        ({"speechConfig": {}}, "speech_config"),
        ({"responseMimeType": "text/x.enum"}, "text/x.enum is not supported"),
        ({"responseSchema": {"type": "STRING"}}, "needs response_mime_type: application/json"),
        ({"logprobs": 3}, "response_logprobs"),
        ({"stopSequences": list("abcdef")}, "up to 5"),
        ({"stopSequences": [""]}, "aren't empty"),
        ({"candidateCount": 9}, "candidate_count"),
        ({"temperature": 2.1}, "temperature"),
        ({"maxOutputTokens": 0}, "max_output_tokens"),
    ],
)
def test_what_it_can_not_do_is_refused(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(ApiError, match=said):
        config(**fields)


def test_functions_are_read_in_their_order() -> None:
    asked = parse(DECLARED)
    assert asked.conversation.tools == (Tool("f", "F", {}), Tool("g.h", None, {"type": "object"}))
    assert asked.tool_choice == ToolChoice("auto", ("f", "g.h"))


@pytest.mark.parametrize(
    ("calling", "choice"),
    [
        ({}, ToolChoice("auto", ("f", "g.h"))),
        ({"mode": "MODE_UNSPECIFIED"}, ToolChoice("auto", ("f", "g.h"))),
        ({"mode": "NONE"}, ToolChoice("none", ("f", "g.h"))),
        ({"mode": "ANY"}, ToolChoice("required", ("f", "g.h"))),
        ({"mode": "ANY", "allowedFunctionNames": ["g.h"]}, ToolChoice("required", ("g.h",))),
        ({"mode": "VALIDATED"}, ToolChoice("auto", ("f", "g.h"))),
        ({"mode": "VALIDATED", "allowedFunctionNames": ["f"]}, ToolChoice("auto", ("f",))),
    ],
)
def test_the_mode_says_how_free_the_model_is(calling: Any, choice: ToolChoice) -> None:
    asked = mode(calling)
    assert asked.tool_choice == choice
    strict = calling is not None and calling.get("mode") == "VALIDATED"
    assert [tool.strict for tool in asked.conversation.tools] == [strict] * 2


@pytest.mark.parametrize(
    ("calling", "said"),
    [
        ({"mode": "ANY", "allowedFunctionNames": ["h"]}, "'h' is no declared function"),
        ({"mode": "AUTO", "allowedFunctionNames": ["f"]}, "only when function calling mode is ANY"),
    ],
)
def test_a_mode_that_makes_no_sense_is_refused(calling: Any, said: str) -> None:
    with pytest.raises(ApiError, match=said):
        mode(calling)


@pytest.mark.parametrize(
    ("tools", "said"),
    [
        ([{"googleSearch": {}}], "Tool 'google_search' is not enabled for models/m"),
        ([{"codeExecution": {}}], "Tool 'code_execution' is not enabled for models/m"),
        ([{"functionDeclarations": [{"name": "1f"}]}], "Invalid function name. Must start with"),
        (
            [{"functionDeclarations": [{"name": "f"}, {"name": "f"}]}],
            "Duplicate function declaration found: f",
        ),
        (
            [{"functionDeclarations": [{"name": "f", "parametersJsonSchema": 1}]}],
            "has to be a JSON object",
        ),
        (
            [
                {
                    "functionDeclarations": [
                        {"name": "f", "parametersJsonSchema": {}, "parameters": {}}
                    ]
                }
            ],
            "not both",
        ),
    ],
)
def test_tools_that_can_not_work_are_refused(tools: Any, said: str) -> None:
    with pytest.raises(ApiError, match=said):
        parse({"tools": tools})


def test_functions_and_json_answers_exclude_each_other() -> None:
    shape = {"generationConfig": {"responseMimeType": "application/json"}}
    with pytest.raises(ApiError, match="Function calling with a response mime type"):
        parse({**DECLARED, **shape})
    none = {"toolConfig": {"functionCallingConfig": {"mode": "NONE"}}}
    assert parse({**DECLARED, **shape, **none}).json_schema == "{}"


@pytest.mark.parametrize("contents", [None, []])
def test_contents_have_to_be_there(contents: Any) -> None:
    with pytest.raises(ApiError, match="contents is not specified"):
        parse({"contents": contents})


CACHED = read(
    json.dumps(
        {
            **DECLARED,
            "systemInstruction": {"parts": [{"text": "S"}]},
            "contents": [{"parts": [{"text": "Doc"}]}],
        }
    ).encode(),
    GenerateFields,
)


def found(name: str, model: str) -> Found:
    assert (name, model) == ("cachedContents/a", "models/m")
    contents = tuple(("contents[0]", each) for each in CACHED.contents or ())
    tools = tuple(CACHED.tools or ())
    return Found(PromptFields(CACHED.system_instruction, tools, None, contents), 77)


def test_what_is_cached_stands_before_the_request_as_if_it_were_sent_again() -> None:
    asked = parse({"cachedContent": "cachedContents/a"}, found)
    inlined = parse(
        {
            **DECLARED,
            "systemInstruction": {"parts": [{"text": "S"}]},
            "contents": [{"parts": [{"text": "Doc"}]}, *HI["contents"]],
        }
    )
    assert asked.conversation == inlined.conversation
    assert asked.tool_choice == inlined.tool_choice
    assert [part.digest for part in asked.parts] == [part.digest for part in inlined.parts]
    assert asked.wishes == Wishes(content="cachedContents/a", content_tokens=77)


@pytest.mark.parametrize(
    "extra", [{"systemInstruction": {"parts": [{"text": "S"}]}}, DECLARED, {"toolConfig": {}}]
)
def test_api_12_a_cached_content_brings_its_own_instructions_and_tools(
    extra: dict[str, Any],
) -> None:
    with pytest.raises(ApiError) as caught:
        parse({"cachedContent": "cachedContents/a", **extra}, found)
    assert caught.value.message == TOGETHER
    assert parse({"cachedContent": "cachedContents/a"}, found).conversation.tools


@pytest.mark.parametrize("instruction", ["Be brief.", "S"])
def test_api_15_a_document_is_tied_to_the_instruction_it_was_stored_with(instruction: str) -> None:
    """Another one is refused and so is the same, as there: store the document with each."""
    told = {"systemInstruction": {"parts": [{"text": instruction}]}}
    with pytest.raises(ApiError) as caught:
        parse({"cachedContent": "cachedContents/a", **told}, found)
    assert (caught.value.status, caught.value.message) == (400, TOGETHER)
    stored = parse({"cachedContent": "cachedContents/a"}, found).conversation.messages[0]
    assert (stored.role, stored.content) == ("system", "S")
