"""Whose format a body is in, and whose cache rules apply to it."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

from headstart.insight.asked.asked import Format, Vendor
from headstart.insight.asked.formats.values import fields, text

VENDORS: tuple[Vendor, ...] = get_args(Vendor)


@dataclass(frozen=True, slots=True)
class Signs:
    """What is known of a request besides its body."""

    provider: str = ""
    """Told by the user: one of VENDORS, or what a recording calls it (`vertex_ai`, `azure`)."""
    url: str = ""
    """Or its path."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """By their names in lower case."""
    model: str = ""
    """Where the body has none."""
    format: Format | None = None
    """Where it is known."""

    def or_else(self, found: "Signs") -> "Signs":
        """These, and what is found where they say nothing."""
        return Signs(
            self.provider or found.provider,
            self.url or found.url,
            self.headers or found.headers,
            self.model or found.model,
            self.format or found.format,
        )


NO_SIGNS = Signs()

PATHS: tuple[tuple[str, Format], ...] = (
    (r"/messages(/count_tokens|/batches)?/?(\?|$)|:(stream)?rawPredict", "anthropic"),
    (r"/converse(-stream)?/?(\?|$)", "converse"),
    (r"/chat/completions", "chat"),
    (r"/responses(/|\?|$)", "responses"),
    (r":(stream)?generateContent|:countTokens|/cachedContents", "gemini"),
    (r"/completions", "completion"),
)
PROVIDERS: tuple[tuple[str, Vendor], ...] = (
    (r"anthropic|claude", "anthropic"),
    (r"deepseek", "deepseek"),
    (r"gemini|google|vertex|gcp", "gemini"),
    (r"vllm|sglang|headstart|engine|llama\.cpp|tgi", "engine"),
    (r"openai|azure", "openai"),
)
"""What others call them; the first that is found in a name."""
GATEWAYS = re.compile(r"bedrock|aws|vertex|google|gcp|azure|openrouter|litellm")
"""Providers of several vendors' models."""
HEADS = re.compile(r"vllm|headstart|engine")
"""Engines that know Claude Code's own line for what it is, as Anthropic does."""
HOSTS: tuple[tuple[str, Vendor], ...] = (
    (r"//api\.anthropic\.com|//bedrock-runtime", "anthropic"),
    (r"//api\.deepseek\.com", "deepseek"),
    (r"googleapis\.com", "gemini"),
    (r"//api\.openai\.com|\.azure\.com", "openai"),
)
MODELS: tuple[tuple[str, Vendor], ...] = (
    (r"claude", "anthropic"),
    (r"^(gemini|gemma)", "gemini"),
    (r"^deepseek", "deepseek"),
    (r"^(gpt|chatgpt|o\d|codex|computer-use|text-|davinci|babbage)", "openai"),
    (
        r"(^|/)(qwen|qwq|llama|meta-llama|mi[sx]tral|ministral|glm|kimi|moonshot|minimax|phi-?\d"
        r"|yi-|ernie|doubao|hunyuan|baichuan|internlm|granite|command-|smollm|olmo|falcon|nemotron)",
        "engine",
    ),
)
"""Models that anybody may serve come last: without a host nobody's rules hold for them."""
OWNERS = re.compile(
    r"(anthropic|openai|google|azure|vertex_ai|bedrock|openrouter|deepseek|models)/"
)
"""What gateways write before a model's name."""
CLOUDS = re.compile(r"^([a-z]+\.)?anthropic\.")
VERSIONS = re.compile(r"-v\d+(:\d+)?$")
"""Of Bedrock: the region and the vendor before a name, its own version behind."""
CHAT_ROLES = ("developer", "tool", "function")
ANTHROPIC_TYPES = ("tool_use", "tool_result", "thinking", "redacted_thinking", "document", "image")


def format_of(body: Mapping[str, Any], signs: Signs = NO_SIGNS) -> Format | None:
    """By its path, then by its fields; None for what is no request."""
    shapes = _shapes(body)
    if signs.format is not None:
        return signs.format if signs.format in shapes else None
    for pattern, form in PATHS:
        if signs.url and re.search(pattern, signs.url) and form in shapes:
            return form
    return _by_fields(body, shapes, signs) if shapes else None


def vendor_of(form: Format, model: str, signs: Signs = NO_SIGNS) -> Vendor:
    """As told; else by the host, the model's name, and the format."""
    told = signs.provider.lower()
    by_name = _first(MODELS, plain_name(model))
    by_provider = _first(PROVIDERS, told)
    if by_provider is not None and not (by_name and GATEWAYS.search(told)):
        return by_provider
    match form:
        case "anthropic" | "converse":
            return "anthropic"
        case "gemini":
            return "gemini"
    return _first(HOSTS, signs.url) or by_name or "openai"


def shows_client_line(vendor: Vendor, signs: Signs = NO_SIGNS) -> bool:
    """Whether the model reads the line that Claude Code puts in front."""
    return vendor != "anthropic" and not HEADS.search(signs.provider.lower())


def plain_name(model: str) -> str:
    """A model's name as its vendor writes it, without what gateways and clouds put around it.

    `us.anthropic.claude-sonnet-4-5-20250929-v1:0` is `claude-sonnet-4-5-20250929`.
    """
    name = model.lower()
    name = name.rsplit("/", 1)[-1] if OWNERS.match(name) or name.startswith("arn:") else name
    name = CLOUDS.sub("", name)
    return VERSIONS.sub("", name).replace("@", "-")


def model_of(body: Mapping[str, Any], signs: Signs = NO_SIGNS) -> str:
    """As the body names it, else its recording, else the path (Gemini, Bedrock, Vertex)."""
    named = text(body.get("model")) or text(body.get("modelId")) or signs.model
    if not named:
        found = re.search(r"/(?:models?|deployments)/([^/:?]+)", signs.url)
        named = found[1] if found else ""
    return named.removeprefix("models/")


def _first(patterns: Iterable[tuple[str, Vendor]], said: str) -> Vendor | None:
    return next((vendor for pattern, vendor in patterns if said and re.search(pattern, said)), None)


def _shapes(body: Mapping[str, Any]) -> tuple[Format, ...]:
    """The formats that a body's fields allow."""
    if isinstance(body.get("contents"), list | str | dict):
        return ("gemini",)
    if isinstance(body.get("messages"), list):
        return ("anthropic", "chat", "converse")
    if isinstance(body.get("input"), list | str) or text(body.get("previous_response_id")):
        return ("responses",)
    if isinstance(body.get("prompt"), list | str):
        return ("completion",)
    if "systemInstruction" in body or "system_instruction" in body:
        return ("gemini",)  # A cachedContents resource may be instructions alone.
    return ()


def _by_fields(body: Mapping[str, Any], shapes: tuple[Format, ...], signs: Signs) -> Format:
    if "chat" not in shapes:
        return shapes[0]
    if "anthropic_version" in body or "anthropic-version" in signs.headers:
        return "anthropic"
    messages = [fields(each) for each in body["messages"]]
    blocks = [fields(block) for message in messages for block in _listed(message.get("content"))]
    if _is_chat(body, messages):
        return "chat"
    if _is_converse(body, blocks):
        return "converse"
    return "anthropic" if _is_anthropic(body, messages, blocks) else "chat"


def _is_chat(body: Mapping[str, Any], messages: list[Mapping[str, Any]]) -> bool:
    """What only chat completions have."""
    tools = (fields(tool) for tool in _listed(body.get("tools")))
    return any("function" in tool for tool in tools) or any(
        message.get("role") in CHAT_ROLES or "tool_calls" in message for message in messages
    )


def _is_converse(body: Mapping[str, Any], blocks: list[Mapping[str, Any]]) -> bool:
    """Its blocks have no type. A block with one is never Converse's, whatever else there is."""
    blocks = [*blocks, *(fields(block) for block in _listed(body.get("system")))]
    if any("type" in block for block in blocks):
        return False
    return "inferenceConfig" in body or "toolConfig" in body or any(blocks)


def _is_anthropic(
    body: Mapping[str, Any], messages: list[Mapping[str, Any]], blocks: list[Mapping[str, Any]]
) -> bool:
    """What only Messages have; of what both may be, Claude's are Anthropic's."""
    tools = [fields(tool) for tool in _listed(body.get("tools"))]
    if any(name in body for name in ("system", "cache_control", "output_config", "stop_sequences")):
        return True
    if any("input_schema" in tool for tool in tools):
        return True
    if any(block.get("type") in ANTHROPIC_TYPES for block in blocks):
        return True
    leads = bool(messages) and messages[0].get("role") == "system"
    return "claude" in text(body.get("model")).lower() and not leads and "max_tokens" in body


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
