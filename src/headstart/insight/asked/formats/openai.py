"""What OpenAI's formats share: marks, wishes, settings, and the pieces that calls and media are."""

from collections.abc import Mapping
from typing import Any, Literal

from headstart.contracts.prompt import Kind, Mark, Wishes
from headstart.insight.asked.formats import media
from headstart.insight.asked.formats.contents import spelled
from headstart.insight.asked.formats.values import text, without
from headstart.insight.asked.piece import Address, Piece, plain_json

MARKS = ("prompt_cache_breakpoint", "cache_control")
"""OpenAI's own, and Anthropic's as gateways take it in this format."""
TEXTS = ("text", "input_text", "output_text", "refusal", "summary_text", "reasoning_text")


def to_mark(part: Mapping[str, Any]) -> Mark | None:
    """The mark of a part, a message or a tool."""
    for name in MARKS:
        wanted = part.get(name)
        if isinstance(wanted, dict):
            ttl = wanted.get("ttl")
            return Mark(ttl if isinstance(ttl, str) else None)
    return None


def to_wishes(body: Mapping[str, Any]) -> Wishes:
    """`prompt_cache_options` and the older `prompt_cache_retention`."""
    retention = text(body.get("prompt_cache_retention")) or None
    options = body.get("prompt_cache_options")
    if not isinstance(options, dict):
        return Wishes(retention=retention)
    mode: Literal["implicit", "explicit"] = (
        "explicit" if options.get("mode") == "explicit" else "implicit"
    )
    return Wishes(mode, text(options.get("ttl")) or None, retention=retention, told=True)


def to_settings(
    body: Mapping[str, Any], *, text_format: Any, effort: Any, verbosity: Any
) -> dict[str, str]:
    """By the names of the contract, spelled as the strict dialects do."""
    return spelled(
        {
            "parallel_tool_calls": body.get("parallel_tool_calls"),
            "text.format": text_format,
            "reasoning.effort": effort,
            "text.verbosity": verbosity,
            "service_tier": body.get("service_tier"),
        }
    )


def tool_piece(tool: Mapping[str, Any], address: Address) -> Piece:
    """A tool of either shape: its function beside its type, or in it."""
    function = tool.get("function")
    inner = function if isinstance(function, dict) else tool
    said = without(tool, MARKS)
    if inner is not tool:
        said = {**said, "function": without(inner, MARKS)}
    return Piece(
        "tool",
        address,
        plain_json(said),
        name=text(inner.get("name")) or text(tool.get("type")),
        mark=to_mark(tool) or to_mark(inner),
        json=True,
    )


def call_piece(call: Mapping[str, Any], address: Address, message: int, role: str) -> Piece:
    """A call that was made. Its id counts only where its result names it."""
    function = call.get("function")
    inner = function if isinstance(function, dict) else call
    arguments = inner.get("arguments", inner.get("input", ""))
    said = arguments if isinstance(arguments, str) else plain_json(arguments)
    return Piece("tool_use", address, said, message, role, text(inner.get("name")))


def part_piece(
    part: Any,
    kind: Kind,
    address: Address,
    message: int,
    role: str,
    *,
    name: str = "",
    id: str = "",
) -> Piece:
    """A part of a content: text, media, or what nobody here knows, as JSON."""
    if isinstance(part, str):
        return Piece(kind, address, part, message, role, name, id)
    if not isinstance(part, dict):
        return Piece(kind, address, plain_json(part), message, role, name, id, json=True)
    mark, markable = to_mark(part), kind != "assistant"
    shape = text(part.get("type"))
    if shape in TEXTS or (not shape and "text" in part):
        said = part.get("refusal" if shape == "refusal" else "text")
        if isinstance(said, str):
            return Piece(kind, address, said, message, role, name, id, mark, markable)
    held = next((part[key] for key in _held(shape) if part.get(key) is not None), None)
    if held is not None:
        said, sort = media.of_value(held), media.source_kind(part)
        return Piece(kind, address, said, message, role, name, id, mark, markable, media=sort)
    said = plain_json(without(part, MARKS))
    return Piece(kind, address, said, message, role, name, id, mark, markable, json=True)


def _held(shape: str) -> tuple[str, ...]:
    """Where a part of this type has its bytes or says where they are."""
    if shape in ("image_url", "input_image"):
        return ("image_url", "file_id")
    if shape in ("input_file", "file"):
        return ("file", "file_data", "file_url", "file_id")
    return (shape,) if shape.startswith(("input_", "video", "audio")) else ()
