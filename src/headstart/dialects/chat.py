"""A conversation that asks for an answer: what every chat dialect is parsed into."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from headstart.contracts.prompt import NO_WISHES, Block, Wishes
from headstart.dialects.cache_hints import NO_HINTS, CacheHints
from headstart.dialects.sampling import Sampling
from headstart.text.chat import Conversation


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """`none`: text only. `auto`: the model decides. `required`: it has to call.

    It can call none but those of `names`.
    """

    mode: Literal["none", "auto", "required"]
    names: tuple[str, ...] = ()


class Part(Block, frozen=True, gc=False):
    """A block of the body, in the vendor's order: a tool, a piece of a message's content.

    Its message is -1 before the messages.
    """

    shown: tuple[str, ...] = ()
    """The texts that the rendered prompt shows of it, in order."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The wish to be told where a prompt left an earlier one, and to be compared with later."""

    previous: str | None
    """The earlier answer's id; None on the first turn."""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One chat completion, checked."""

    model: str
    conversation: Conversation
    tool_choice: ToolChoice
    sampling: Sampling
    parallel_tool_calls: bool = True
    json_schema: str | None = None
    """JSON text of the schema the answer has to obey."""
    n: int = 1
    stream: bool = False
    include_usage: bool = False
    cache_salt: str | None = None
    cache_hints: CacheHints = NO_HINTS
    parts: tuple[Part, ...] = ()
    partition: str = ""
    """What the vendor separates its caches by, besides tenant and model."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """What a vendor counts to the prompt without its being a part, by the vendor's name for it."""
    wishes: Wishes = NO_WISHES
    comparison: Comparison | None = None
