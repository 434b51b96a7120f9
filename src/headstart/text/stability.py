"""Does a chat template let conversations grow? A check at load, without a tokenizer.

A prompt and the answer to it should be the beginning of the next prompt, character by character;
else what was computed for them can't be reused. Templates break this in known ways: they move the
system prompt, trim answers, drop reasoning, or render the date (TURN-02, STAB-01).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from headstart.text.chat import Conversation, Message, Tool, ToolCall
from headstart.text.errors import TemplateError

_CONTEXT = 40
"""Characters shown on each side of a divergence."""


@dataclass(frozen=True, slots=True)
class Divergence:
    """Where a longer prompt stops being the continuation of a shorter one and its answer."""

    case: str
    """Which canned conversation shows it."""
    turn: int
    """Index of the message that the shorter prompt asked for: an answer, or a call."""
    message: int
    """Index of the message in whose text, or behind whose text, the two part."""
    index: int
    """The first character that differs."""
    before: str
    """The common text up to there, its end."""
    expected: str
    """How the shorter prompt and its answer go on."""
    found: str
    """How the longer prompt goes on."""

    def __str__(self) -> str:
        return (
            f"{self.case}: the prompt behind message {self.turn} does not continue the one before "
            f"it: at character {self.index} (message {self.message}), behind {self.before!r}, "
            f"{self.expected!r} became {self.found!r}"
        )


_TOOL = Tool(
    "get_weather",
    "Weather at a place",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)
_CALL = ToolCall("call00001", "get_weather", '{"city":"Paris"}')


def _chat(answer: str) -> Conversation:
    return Conversation(
        (
            Message("system", "S: be brief."),
            Message("user", "U1: good morning?"),
            Message("assistant", answer),
            Message("user", "U2: and then?"),
            Message("assistant", "A2: that is all."),
            Message("user", "U3: thanks."),
        )
    )


_PLAIN = {
    "plain": _chat("A1: good morning."),
    "no system": Conversation(_chat("A1: good morning.").messages[1:]),
    "white space around the answer": _chat("\n A1: good morning. \n"),
    "reasoning in the answer": _chat("<think>\nR1: greet.\n</think>\n\nA1: good morning."),
}
_TOOLS = {
    "tools": Conversation(
        (
            Message("system", "S: be brief."),
            Message("user", "U1: weather in Paris?"),
            Message("assistant", tool_calls=(_CALL,)),
            Message("tool", '{"T1": 21}', tool_call_id=_CALL.id),
            Message("assistant", "A1: 21 degrees."),
            Message("user", "U2: thanks."),
        ),
        (_TOOL,),
    )
}


def template_stability(
    render: Callable[[Conversation], str], *, tools: bool = True
) -> list[Divergence]:
    """The first divergence in each canned conversation that has one; an empty list is good news.

    `render` is `ChatTemplate.render` or `Codec.render`. `tools` asks for the conversation with a
    call and its result too. How a model writes a call is not known here, so behind a call only the
    prompt has to come back. A conversation that the template refuses is passed over.
    """
    cases = {**_PLAIN, **(_TOOLS if tools else {})}
    found = (next(_divergences(render, name, case), None) for name, case in cases.items())
    return [divergence for divergence in found if divergence is not None]


def _divergences(
    render: Callable[[Conversation], str], name: str, case: Conversation
) -> Iterator[Divergence]:
    for turn, message in enumerate(case.messages):
        if message.role != "assistant":
            continue
        # The next request holds all that follows, up to where the model is asked again.
        end = next(
            (i for i in range(turn + 1, len(case.messages)) if _asks(case, i)), len(case.messages)
        )
        try:
            asked = render(Conversation(case.messages[:turn], case.tools))
            after = render(Conversation(case.messages[:end], case.tools))
        except TemplateError:
            return
        if not _continues(after, asked, message.content or ""):
            yield _describe(name, case, turn, asked, after)


def _asks(case: Conversation, index: int) -> bool:
    return case.messages[index].role == "assistant"


def _continues(after: str, asked: str, answer: str) -> bool:
    """White space that a template writes before an answer is for the model to write (Mistral)."""
    rest = after[len(asked) :]
    return after.startswith(asked) and (rest.startswith(answer) or rest.lstrip().startswith(answer))


def _describe(name: str, case: Conversation, turn: int, asked: str, found: str) -> Divergence:
    expected = asked + (case.messages[turn].content or "")
    pairs = zip(expected, found, strict=False)
    shortest = min(len(expected), len(found))
    index = next((i for i, (one, other) in enumerate(pairs) if one != other), shortest)
    return Divergence(
        case=name,
        turn=turn,
        message=turn if index >= len(asked) else _message_at(case, turn, asked, index),
        index=index,
        before=expected[max(index - _CONTEXT, 0) : index],
        expected=expected[index : index + _CONTEXT],
        found=found[index : index + _CONTEXT],
    )


def _message_at(case: Conversation, turn: int, asked: str, index: int) -> int:
    """The last message whose text begins at or before `index`; every canned text occurs once."""
    at = 0
    for number, message in enumerate(case.messages[:turn]):
        place = asked.find((message.content or "").strip() or "\0")
        if 0 <= place <= index:
            at = number
    return at
