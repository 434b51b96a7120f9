"""Each dialect's counts and bodies, against the shapes that vendors document."""

import json

import pytest

from headstart.insight.probe.script import Prompt, Usage
from headstart.insight.probe.wires import WIRES, Form
from headstart.insight.probe.wires.base import Heard
from headstart.insight.wire import EndpointError

PROMPT = Prompt("STABLE", "q")

CHAT_USAGE = (
    '{"choices":[],"usage":{"prompt_tokens":2048,"completion_tokens":5,'
    '"prompt_tokens_details":{"cached_tokens":1920,"cache_write_tokens":64}}}'
)
DEEPSEEK_USAGE = (
    '{"choices":[],"usage":{"prompt_tokens":2048,"completion_tokens":5,'
    '"prompt_cache_hit_tokens":1984,"prompt_cache_miss_tokens":64}}'
)
RESPONSES_END = (
    '{"type":"response.incomplete","sequence_number":9,"response":{"id":"resp_1","error":null,'
    '"usage":{"input_tokens":2048,"input_tokens_details":{"cached_tokens":1500,'
    '"cache_write_tokens":548},"output_tokens":5}}}'
)
ANTHROPIC_START = (
    '{"type":"message_start","message":{"id":"msg_01","content":[],"usage":{"input_tokens":12,'
    '"cache_creation_input_tokens":30,"cache_read_input_tokens":2036,"output_tokens":1}}}'
)
ANTHROPIC_DELTA = (
    '{"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":3}}'
)
GEMINI_LAST = (
    '{"candidates":[{"content":{"role":"model","parts":[{"text":"Hi"}]},"finishReason":"STOP"}],'
    '"usageMetadata":{"promptTokenCount":7036,"candidatesTokenCount":19,"thoughtsTokenCount":2,'
    '"cachedContentTokenCount":7021}}'
)
GEMINI_MISS = (
    '{"candidates":[{"content":{"parts":[{"text":"Hi"}]}}],'
    '"usageMetadata":{"promptTokenCount":7036,"candidatesTokenCount":1}}'
)


def hear(dialect: str, payload: str) -> Heard:
    return WIRES[dialect].hear(payload.encode())


@pytest.mark.parametrize(
    ("dialect", "payload", "usage"),
    [
        # OpenAI, DeepSeek and Gemini include what was cached; Anthropic's three are added up.
        ("openai-chat", CHAT_USAGE, Usage(2048, 1920, 64, 5)),
        ("deepseek", DEEPSEEK_USAGE, Usage(2048, 1984, None, 5)),
        ("openai-responses", RESPONSES_END, Usage(2048, 1500, 548, 5)),
        ("anthropic", ANTHROPIC_START, Usage(12 + 30 + 2036, 2036, 30, 1)),
        ("anthropic", ANTHROPIC_DELTA, Usage(None, None, None, 3)),
        ("gemini", GEMINI_LAST, Usage(7036, 7021, None, 21)),
        ("gemini", GEMINI_MISS, Usage(7036, 0, None, 1)),
    ],
)
def test_inclusive_and_additive_counts_mean_the_same(
    dialect: str, payload: str, usage: Usage
) -> None:
    assert hear(dialect, payload).usage == usage


def test_later_counts_of_a_stream_replace_earlier_ones_and_no_others() -> None:
    told = hear("anthropic", ANTHROPIC_START).usage.then(hear("anthropic", ANTHROPIC_DELTA).usage)
    assert told == Usage(2078, 2036, 30, 3)


@pytest.mark.parametrize(
    ("dialect", "payload", "token"),
    [
        ("openai-chat", '{"choices":[{"delta":{"role":"assistant","content":""}}]}', False),
        ("openai-chat", '{"choices":[{"delta":{"content":"a"}}]}', True),
        ("openai-chat", "[DONE]", False),
        ("openai-responses", '{"type":"response.created","response":{"usage":null}}', False),
        ("openai-responses", '{"type":"response.output_text.delta","delta":"a"}', True),
        ("openai-responses", RESPONSES_END, True),
        ("anthropic", ANTHROPIC_START, False),
        ("anthropic", '{"type":"ping"}', False),
        ("anthropic", '{"type":"content_block_start","index":0}', False),
        ("anthropic", '{"type":"content_block_delta","index":0}', True),
        ("gemini", GEMINI_MISS, True),
        ("gemini", '{"usageMetadata":{"promptTokenCount":7}}', False),
    ],
)
def test_only_what_proves_a_token_ends_the_wait_for_it(
    dialect: str, payload: str, token: bool
) -> None:
    assert hear(dialect, payload).token is token


@pytest.mark.parametrize(
    ("dialect", "payload", "last"),
    [
        ("openai-chat", '{"choices":[{"delta":{"content":"a"},"finish_reason":"length"}]}', False),
        (
            "openai-chat",
            '{"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":9}}',
            False,
        ),
        ("openai-chat", CHAT_USAGE, True),
        (
            "openai-chat",
            '{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":9}}',
            True,
        ),
        ("openai-chat", "[DONE]", True),
        ("deepseek", "[DONE]", True),
        ("openai-responses", '{"type":"response.output_text.done","text":"a"}', False),
        ("openai-responses", RESPONSES_END, True),
        ("openai-responses", '{"type":"response.completed","response":{}}', True),
        ("anthropic", '{"type":"content_block_stop","index":0}', False),
        ("anthropic", ANTHROPIC_DELTA, False),
        ("anthropic", '{"type":"message_stop"}', True),
        ("gemini", GEMINI_MISS, False),
        ("gemini", GEMINI_LAST, True),
        ("gemini", '{"candidates":[{"finishReason":"MAX_TOKENS"}]}', True),
    ],
)
def test_an_answer_is_whole_once_its_last_event_has_come(
    dialect: str, payload: str, last: bool
) -> None:
    """Whatever comes before it may be cut off behind it, with the counts that are still to come."""
    assert hear(dialect, payload).last is last


@pytest.mark.parametrize(
    ("dialect", "payload"),
    [
        ("openai-chat", '{"error":{"message":"out of room"}}'),
        ("openai-responses", '{"type":"error","code":"x","message":"out of room"}'),
        (
            "openai-responses",
            '{"type":"response.failed","response":{"error":{"message":"out of room"}}}',
        ),
        ("anthropic", '{"type":"error","error":{"type":"api_error","message":"out of room"}}'),
        ("gemini", '{"error":{"code":500,"message":"out of room","status":"INTERNAL"}}'),
    ],
)
def test_an_error_within_a_stream_is_told_in_its_words(dialect: str, payload: str) -> None:
    with pytest.raises(EndpointError, match="out of room"):
        hear(dialect, payload)


@pytest.mark.parametrize("dialect", WIRES)
def test_what_is_no_event_of_the_dialect_is_shown(dialect: str) -> None:
    with pytest.raises(EndpointError, match="bad gateway"):
        hear(dialect, "<html>bad gateway</html>")


@pytest.mark.parametrize(
    ("dialect", "marked"),
    [
        ("openai-chat", '"prompt_cache_breakpoint": {"mode": "explicit"}'),
        ("openai-responses", '"prompt_cache_breakpoint": {"mode": "explicit"}'),
        ("anthropic", '"cache_control": {"type": "ephemeral"}'),
    ],
)
def test_the_prefix_is_marked_where_a_dialect_has_marks(dialect: str, marked: str) -> None:
    wire = WIRES[dialect]
    body = json.dumps(wire.body("m", PROMPT, 4, Form(marks=True, limit="max_tokens")))
    assert marked in body
    assert body.index("STABLE") < body.index(marked)
    assert marked not in json.dumps(wire.body("m", PROMPT, 4, Form(limit="max_tokens")))


@pytest.mark.parametrize(
    ("dialect", "base", "url"),
    [
        ("openai-chat", "http://h:1", "http://h:1/v1/chat/completions"),
        ("openai-chat", "http://h:1/v1/", "http://h:1/v1/chat/completions"),
        ("openai-chat", "https://h/openai/v1", "https://h/openai/v1/chat/completions"),
        ("openai-responses", "http://h:1/v1", "http://h:1/v1/responses"),
        ("anthropic", "http://h:1/v1", "http://h:1/v1/messages"),
        ("anthropic", "https://h/anthropic", "https://h/anthropic/v1/messages"),
        ("gemini", "http://h:1", "http://h:1/v1beta/models/m:streamGenerateContent?alt=sse"),
        ("gemini", "http://h:1/v1", "http://h:1/v1beta/models/m:streamGenerateContent?alt=sse"),
    ],
)
def test_base_urls_are_taken_as_the_sdks_take_them(dialect: str, base: str, url: str) -> None:
    assert WIRES[dialect].url(base, "m") == url


@pytest.mark.parametrize(
    ("dialect", "header", "value"),
    [
        ("openai-chat", "Authorization", "Bearer k"),
        ("anthropic", "x-api-key", "k"),
        ("gemini", "x-goog-api-key", "k"),
    ],
)
def test_a_key_goes_where_the_vendor_reads_it(dialect: str, header: str, value: str) -> None:
    wire = WIRES[dialect]
    assert wire.headers("k")[header] == value
    assert header not in wire.headers(None)
