"""A model's chat template: from a conversation to the prompt's text."""

import datetime
from collections.abc import Iterator, Mapping
from typing import Any

import jinja2
from jinja2 import meta

from headstart.text.chat import Conversation, Message, Tool
from headstart.text.errors import TemplateError
from headstart.text.fallback import without_tools
from headstart.text.jinja import chat_environment
from headstart.text.verbatim import VerbatimObject

EMPTY_PARAMETERS: Mapping[str, Any] = {"type": "object", "properties": {}}
"""What a tool without `parameters` means (OpenAI API reference: "an empty parameter list")."""


class ChatTemplate:
    """Renders conversations. Pure: the same conversation gives the same text, at any time."""

    def __init__(
        self,
        templates: Mapping[str, str],
        special_tokens: Mapping[str, str],
        date: datetime.date | None = None,
    ) -> None:
        """Compile Jinja sources by name (`default`, `tool_use`); `date` is for `strftime_now`.

        Raises TemplateError where a source does not parse.
        """
        environment = chat_environment(date)
        self._special_tokens = dict(special_tokens)
        self._sources = dict(templates)
        self._dated = date is not None
        try:
            self._compiled = {
                name: environment.from_string(source) for name, source in templates.items()
            }
            variables = {
                name: meta.find_undeclared_variables(environment.parse(source))
                for name, source in templates.items()
            }
        except jinja2.TemplateError as error:
            raise TemplateError(f"the model's chat template does not parse: {error}") from error
        self._tool_aware = frozenset(name for name in variables if "tools" in variables[name])

    @property
    def source(self) -> str:
        """All Jinja sources, for telling which tool format they write."""
        return "\n".join(self._sources.values())

    @property
    def knows_tools(self) -> bool:
        """Whether tools are rendered by the model's own template, not by our fallback."""
        return bool(self._tool_aware)

    def render(self, conversation: Conversation) -> str:
        """The prompt, up to where the assistant's answer begins. Raises TemplateError."""
        name = (
            "tool_use" if "tool_use" in self._compiled and _uses_tools(conversation) else "default"
        )
        if name not in self._compiled:
            raise TemplateError(
                "the model has no chat template: use /v1/completions, or put a chat_template.jinja "
                "beside its tokenizer.json"
            )
        if not self.knows_tools:
            conversation = without_tools(conversation)
        developer = "developer" if "developer" in self._sources[name] else "system"
        context = {
            **self._special_tokens,
            "messages": [_message(m, developer) for m in conversation.messages],
            "tools": [_tool(tool) for tool in conversation.tools] or None,
            "documents": None,
            "add_generation_prompt": True,
        }
        try:
            return self._compiled[name].render(context)
        # A template is a program of the model's author: whatever it raises is its refusal.
        except Exception as error:
            raise TemplateError(self._explain(error)) from error

    def _explain(self, error: Exception) -> str:
        if not self._dated and "strftime_now" in str(error):
            return (
                "the model's chat template prints today's date, which would make prompts differ "
                "from day to day: give the server a fixed one (--template-date YYYY-MM-DD)"
            )
        return (
            f"the model's chat template refuses this conversation: {error or type(error).__name__}"
        )


def _uses_tools(conversation: Conversation) -> bool:
    """Tools on offer, or calls and results in the history: the plain template would drop those."""
    return bool(conversation.tools) or any(
        message.tool_calls or message.role == "tool" for message in conversation.messages
    )


def _message(message: Message, developer: str) -> dict[str, Any]:
    """The message as templates know it: content is always text, arguments are an object."""
    rendered: dict[str, Any] = {
        "role": developer if message.role == "developer" else message.role,
        "content": message.content or "",
    }
    if message.name is not None:
        rendered["name"] = message.name
    if message.tool_calls:
        rendered["tool_calls"] = list(_tool_calls(message))
    if message.tool_call_id is not None:
        rendered["tool_call_id"] = message.tool_call_id
    return rendered


def _tool_calls(message: Message) -> Iterator[dict[str, Any]]:
    for call in message.tool_calls:
        arguments = VerbatimObject.shown(call.arguments)
        function = {"name": call.name, "arguments": arguments}
        yield {"id": call.id, "type": "function", "function": function}


def _tool(tool: Tool) -> dict[str, Any]:
    function: dict[str, Any] = {"name": tool.name}
    if tool.description is not None:
        function["description"] = tool.description
    function["parameters"] = _plain(
        EMPTY_PARAMETERS if tool.parameters is None else tool.parameters
    )
    return {"type": "function", "function": function}


def _plain(value: Any) -> Any:
    """Mappings and sequences as the dicts and lists that JSON and the sandbox know, order kept."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
