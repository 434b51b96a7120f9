"""Items as they come over the wire, those of earlier answers among them."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct, field

from headstart.contracts.prompt import Mark
from headstart.dialects.body import convert
from headstart.dialects.errors import ApiError, invalid
from headstart.dialects.openai.cache_options import Breakpoint, to_mark
from headstart.dialects.openai.values import invalid_value, kind_of, unreadable

KINDS = ("message", "function_call", "function_call_output", "reasoning", "item_reference")
READABLE = ("input_text",)
WRITTEN = ("output_text", "refusal")
MEDIA = frozenset({"input_image", "input_file", "input_audio"})
OTHERS = frozenset(
    {
        "additional_tools",
        "apply_patch_call",
        "apply_patch_call_output",
        "code_interpreter_call",
        "compaction",
        "compaction_trigger",
        "computer_call",
        "computer_call_output",
        "configuration_update",
        "custom_tool_call",
        "custom_tool_call_output",
        "file_search_call",
        "image_generation_call",
        "local_shell_call",
        "local_shell_call_output",
        "mcp_approval_request",
        "mcp_approval_response",
        "mcp_call",
        "mcp_list_tools",
        "program",
        "program_output",
        "shell_call",
        "shell_call_output",
        "tool_search_call",
        "tool_search_output",
        "web_search_call",
    }
)
"""Items that OpenAI knows and a text model with functions neither writes nor reads."""

Status = Literal["in_progress", "completed", "incomplete"]


class InputText(Struct, forbid_unknown_fields=True):
    """`{"type":"input_text","text":…}`."""

    type: str
    text: str
    prompt_cache_breakpoint: Breakpoint | None = None


class OutputText(Struct, forbid_unknown_fields=True):
    """`{"type":"output_text","text":…}`, as an answer had it."""

    type: str
    text: str
    annotations: list[Any] | None = None
    logprobs: list[Any] | None = None


class Refusal(Struct, forbid_unknown_fields=True):
    """`{"type":"refusal","refusal":…}`."""

    type: str
    refusal: str


class MessageItem(Struct, forbid_unknown_fields=True):
    """What somebody said."""

    role: Literal["user", "assistant", "system", "developer"]
    content: str | list[dict[str, Any]]
    type: str = "message"
    id: str | None = None
    status: Status | None = None
    phase: Literal["commentary", "final_answer"] | None = None


class CallItem(Struct, forbid_unknown_fields=True):
    """A function that the model called; there are no groups, nor programs that call."""

    type: str
    call_id: str
    name: str
    arguments: str
    id: str | None = None
    status: Status | None = None
    namespace: None = None
    caller: None = None
    asynchronous: None = field(name="async", default=None)


class OutputItem(Struct, forbid_unknown_fields=True):
    """What the function returned."""

    type: str
    call_id: str
    output: str | list[dict[str, Any]]
    id: str | None = None
    status: Status | None = None
    name: str | None = None
    namespace: None = None
    caller: None = None


class SummaryText(Struct, forbid_unknown_fields=True):
    """`{"type":"summary_text","text":…}`."""

    type: Literal["summary_text"]
    text: str


class ReasoningText(Struct, forbid_unknown_fields=True):
    """`{"type":"reasoning_text","text":…}`."""

    type: Literal["reasoning_text"]
    text: str


class ReasoningItem(Struct, forbid_unknown_fields=True):
    """What a model thought before what follows it. Nobody but its vendor reads the encrypted form.

    It may come without an id beside that (vercel/ai's client sends it so).
    """

    type: str
    summary: list[SummaryText]
    id: str | None = None
    content: list[ReasoningText] | None = None
    encrypted_content: str | None = None
    status: Status | None = None

    @property
    def size(self) -> int:
        """Characters of all texts."""
        texts = sum(len(each.text) for each in (*self.summary, *(self.content or ())))
        return texts + len(self.encrypted_content or "")


class ReferenceItem(Struct, forbid_unknown_fields=True):
    """An item that is stored here."""

    type: str
    id: str


class Piece(Struct, frozen=True, gc=False):
    """A piece of a message's text, where it stands, and its mark."""

    text: str
    path: str
    mark: Mark | None = None


def read_item(
    raw: Mapping[str, Any], path: str
) -> MessageItem | CallItem | OutputItem | ReasoningItem | ReferenceItem:
    """One item. Raises ApiError 400."""
    kind = kind_of(raw, path)
    match kind:
        case "message" | None:
            return convert(raw, MessageItem, path)
        case "function_call":
            return convert(raw, CallItem, path)
        case "function_call_output":
            return convert(raw, OutputItem, path)
        case "reasoning":
            return convert(raw, ReasoningItem, path)
        case "item_reference":
            return convert(raw, ReferenceItem, path)
    if kind in OTHERS:
        message = f"'{path}': items of type '{kind}' are not supported with this model."
        raise invalid(message, path, "unsupported_value")
    raise invalid_value(kind, KINDS, f"{path}.type")


def pieces(content: str | Sequence[Mapping[str, Any]], path: str, *, written: bool) -> list[Piece]:
    """The text of a content. `written`: by the model, not to it. Raises ApiError 400."""
    if isinstance(content, str):
        return [Piece(content, path)]
    read = _written if written else _readable
    return [read(part, f"{path}[{index}]") for index, part in enumerate(content)]


def _readable(part: Mapping[str, Any], path: str) -> Piece:
    kind = kind_of(part, path)
    if kind is not None and kind not in READABLE:
        raise _refusal(kind, path, READABLE)
    read = convert(part, InputText, path)
    return Piece(read.text, path, to_mark(read.prompt_cache_breakpoint, path))


def _written(part: Mapping[str, Any], path: str) -> Piece:
    match kind_of(part, path):
        case "refusal":
            return Piece(convert(part, Refusal, path).refusal, path)
        case "output_text" | None:
            return Piece(convert(part, OutputText, path).text, path)
        case kind:
            raise _refusal(kind, path, WRITTEN)


def _refusal(kind: str, path: str, allowed: Sequence[str]) -> ApiError:
    if kind in MEDIA:
        return unreadable(kind, path)
    return invalid_value(kind, allowed, f"{path}.type")
