"""One request, in whosever format it is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from headstart.contracts.prompt import NO_WISHES, Wishes
from headstart.insight.asked.piece import Piece
from headstart.ledger.account import Account

Format = Literal["anthropic", "converse", "chat", "responses", "gemini", "completion"]
"""How a body is written. `chat` is OpenAI's, which DeepSeek, vLLM and many others speak too;
`converse` is Bedrock's.
"""
Vendor = Literal["anthropic", "openai", "gemini", "deepseek", "engine"]
"""Whose cache rules apply; `engine`: nobody's, a prefix cache by tokens (vLLM, SGLang, ours)."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a request stands."""

    file: str
    """`-` for standard input."""
    number: int = 1
    """Its line, or its place in the file, from 1."""

    def __str__(self) -> str:
        return f"{self.file}:{self.number}"


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, and what a recording has beside it."""

    format: Format
    vendor: Vendor
    model: str
    pieces: Sequence[Piece]
    """In the vendor's order, in which the prompt is rendered."""
    body: Mapping[str, Any]
    settings: Mapping[str, str] = field(default_factory=dict)
    """What shapes the prompt without being a piece of it, by the contract's names; JSON."""
    wishes: Wishes = NO_WISHES
    partition: str = ""
    """`prompt_cache_key`, workspace: what the vendor keeps caches apart by."""
    origin: Origin = Origin("-")
    id: str = ""
    """The request's, as its recording names it."""
    time: float | None = None
    """Unix seconds."""
    tenant: str = ""
    session: str = ""
    route: str = ""
    """Deployment, replica or region, where it is known."""
    account: Account | None = None
    """What the vendor's usage object said."""
    response: Any = None
    """The answer as the recording has it: whole, its usage alone, a stream's events, or nothing."""
    tokens: Sequence[int] | None = None
    """The rendered prompt, where the recording has it."""
    ttft: float | None = None
    """Seconds."""
    reason: str = ""
    """Of its miss, where the server said one."""
    tier: str = ""
    """The service tier that its answer names (`batch`, `flex`, `priority`); empty for none."""

    @property
    def has_body(self) -> bool:
        """False where a recording has the answer's usage alone."""
        return bool(self.body)
