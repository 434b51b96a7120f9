"""Tool calls: how a model writes them, told from its own template and vocabulary."""

from collections.abc import Mapping

from headstart.text.tool_events import (
    CallArguments,
    CallStart,
    Event,
    Text,
    ToolCallParser,
    ToolFormat,
)
from headstart.text.tool_formats.hermes import HermesFormat
from headstart.text.tool_formats.llama3 import Llama3Format
from headstart.text.tool_formats.mistral import MistralFormat

__all__ = [
    "CallArguments",
    "CallStart",
    "Event",
    "HermesFormat",
    "Llama3Format",
    "MistralFormat",
    "Text",
    "ToolCallParser",
    "ToolFormat",
    "detect_format",
]


def detect_format(template: str, special_ids: Mapping[str, int]) -> ToolFormat:
    """The format that `template` writes its history in; Hermes where it knows none (the fallback).

    `special_ids` are the special tokens of the vocabulary, text to id.
    """
    if "[TOOL_CALLS]" in template:
        return MistralFormat(special_ids.get("[TOOL_CALLS]"), spaced="[TOOL_CALLS] [" in template)
    if "<tool_call>" not in template and ("<|python_tag|>" in template or "ipython" in template):
        return Llama3Format()
    return HermesFormat()
