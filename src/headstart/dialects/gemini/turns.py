"""From contents to messages and the parts of the prompt."""

import json
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

from headstart.contracts.prompt import Kind, digest
from headstart.dialects.chat import Part
from headstart.dialects.choice import call_id
from headstart.dialects.errors import invalid
from headstart.dialects.gemini.content import Content, FunctionCall, FunctionResponse, pieces
from headstart.text.chat import Message, ToolCall


def as_text(value: Mapping[str, Any] | None) -> str:
    """An object as JSON text, spaced as models write it, whatever spacing the client has."""
    return json.dumps(value or {}, ensure_ascii=False)


class Turns:
    """Reads contents in their order; `messages` and `parts` are what came of them.

    What a model said is one message, also when it is sent back in pieces, as the SDK's chats do
    with what they streamed: the pieces are joined as they are. Pieces of a user are lines.
    """

    def __init__(self, model: str) -> None:
        self.messages: list[Message] = []
        self.parts: list[Part] = []
        self._model = model
        self._said: list[str] = []
        self._called: list[ToolCall] = []
        """Of the answer that is being read, like `_said`."""
        self._calls = 0
        self._open: dict[str, OrderedDict[str, ToolCall]] = {}
        """Calls that nothing came of yet, by name and id, in their order.

        A dict looks for its first key behind all that were taken from before it.
        """

    def system(self, content: Content, path: str) -> None:
        """Instructions. Raises ApiError 400 for what isn't text."""
        said = []
        for place, part in pieces(content, path, self._model):
            if part.text is None:
                raise invalid(f"'{place}': only text is supported in system instructions.", place)
            said.append(part.text)
            self._note("system", place, part.text)
        self.messages.append(Message("system", "\n".join(said)))

    def add(self, content: Content, path: str) -> None:
        """The next content. Raises ApiError 400."""
        match content.role:
            case "model":
                self._model_says(content, path)
            case None | "" | "user" | "function":
                self.end_answer()
                self._user_says(content, path)
            case _:
                raise invalid("Please use a valid role: user, model.", f"{path}.role")

    def end_answer(self) -> None:
        """What the model said is whole."""
        if self._said or self._called:
            text = "".join(self._said) or None
            self.messages.append(Message("assistant", text, tool_calls=tuple(self._called)))
            self._said, self._called = [], []

    def _model_says(self, content: Content, path: str) -> None:
        for place, part in pieces(content, path, self._model):
            if part.function_call is not None:
                self._called.append(self._call(part.function_call, place))
            elif part.text is not None:
                self._said.append(part.text)
                self._note("assistant", place, part.text)
            else:
                raise invalid(f"'{place}': a function response is not for the model.", place)

    def _user_says(self, content: Content, path: str) -> None:
        lines: list[str] = []
        for place, part in pieces(content, path, self._model):
            if part.function_response is not None:
                self._say(lines)
                self._result(part.function_response, place)
            elif part.text is not None:
                lines.append(part.text)
                self._note("user", place, part.text)
            else:
                raise invalid(f"'{place}': only the model calls functions.", place)
        self._say(lines)

    def _say(self, lines: list[str]) -> None:
        if lines:
            self.messages.append(Message("user", "\n".join(lines)))
            lines.clear()

    def _call(self, call: FunctionCall, path: str) -> ToolCall:
        arguments = as_text(call.args)
        made = ToolCall(call.id or call_id("gemini", 0, self._calls), call.name, arguments)
        self._calls += 1
        self._open.setdefault(made.name, OrderedDict())[made.id] = made
        self._note("tool_use", path, call.name, arguments)
        return made

    def _result(self, response: FunctionResponse, path: str) -> None:
        if response.parts:
            raise invalid(f"'{path}.parts': only 'response' is supported.", f"{path}.parts")
        said = as_text(response.response)
        call = self._answered(response)
        if call is None:
            message = (
                "Please ensure that function response turn comes immediately after a function "
                "call turn."
            )
            raise invalid(message, path)
        self.messages.append(Message("tool", said, name=call.name, tool_call_id=call.id))
        self._note("tool_result", path, said)

    def _answered(self, response: FunctionResponse) -> ToolCall | None:
        """The call of its name with its id, else the first of its name; it is open no more."""
        calls = self._open.get(response.name, OrderedDict())
        key = response.id if response.id in calls else next(iter(calls), None)
        return None if key is None else calls.pop(key)

    def _note(self, kind: Kind, path: str, *shown: str) -> None:
        said = digest(kind, *shown)
        message = len(self.messages)
        self.parts.append(Part(kind, said, message, path, shown=shown))


def read_turns(
    model: str, system: Content | None, contents: Sequence[tuple[str, Content]]
) -> tuple[tuple[Message, ...], tuple[Part, ...]]:
    """Messages and parts of instructions and contents, each with its path. Raises ApiError 400."""
    turns = Turns(model)
    if system is not None:
        turns.system(system, "system_instruction")
    for path, content in contents:
        turns.add(content, path)
    turns.end_answer()
    return tuple(turns.messages), tuple(turns.parts)
