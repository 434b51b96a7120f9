"""The seam that every chat dialect fills: a body in, a body or a stream out, failures too."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from headstart.contracts.diagnosis import Diagnosis
from headstart.dialects.chat import ChatRequest
from headstart.dialects.deltas import Delta
from headstart.dialects.errors import ApiError
from headstart.dialects.gathered import Gathered
from headstart.dialects.logprobs import TokenLogprob
from headstart.ledger.account import Account


@dataclass(frozen=True, slots=True)
class Envelope:
    """What a request says outside its body."""

    headers: Mapping[str, str] = field(default_factory=dict)
    """By their names in lower case."""
    path: Mapping[str, str] = field(default_factory=dict)
    """The variable parts of its URL."""


@dataclass(frozen=True, slots=True)
class Head:
    """What is known of an answer before it begins."""

    id: str
    created: float
    """In seconds since the epoch."""
    asked: ChatRequest
    diagnosis: Diagnosis | None = None
    """Where its prompt left the one it was to be compared with."""
    contract: str = "engine"
    """The name of the cache contract that the model is under."""


class Stream(Protocol):
    """Renders one answer as frames, in this order: begin, frames, end; or fail at any point."""

    def begin(self, account: Account) -> Iterator[bytes]:
        """The first token is there; the account's input side is settled."""
        ...

    def frames(
        self, index: int, deltas: Sequence[Delta], logprobs: Sequence[TokenLogprob]
    ) -> Iterator[bytes]:
        """The next piece of choice `index`."""
        ...

    def end(self, account: Account) -> Iterator[bytes]:
        """The answer is whole."""
        ...

    def fail(self, error: ApiError) -> bytes:
        """The answer stays half."""
        ...


@dataclass(frozen=True, slots=True)
class Failure:
    """An error as the vendor's clients read it."""

    status: int
    body: dict[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)


class Manners(Protocol):
    """How a vendor says no."""

    def failure(self, error: ApiError, request_id: str) -> Failure:
        """The answer to a request that failed."""
        ...


class Voice(Protocol):
    """What a dialect calls things."""

    name: ClassVar[str]
    """As the ledger calls it."""
    vendor: ClassVar[str]
    """Whose cache contract applies to the server's own model."""
    prompt_field: ClassVar[str]
    """The body's field that the prompt is in, to blame it when that is too long."""
    schema_field: ClassVar[str]
    """The field that shapes the answer's text, to blame it when its grammar can't be used."""

    def response_id(self, unique: str) -> str:
        """The answer's id, made from what is unique to the request."""
        ...

    def told(self, head: Head, account: Account) -> dict[str, Any]:
        """What a whole answer tells of its account, under the name that it has there."""
        ...


class Renderer(Protocol):
    """How an answer is put. Pure."""

    def whole(self, head: Head, choices: Sequence[Gathered], account: Account) -> dict[str, Any]:
        """The body of a whole answer."""
        ...

    def stream(self, head: Head) -> Stream:
        """The renderer of a streamed answer."""
        ...


class Dialect(Manners, Voice, Renderer, Protocol):
    """One vendor's way of asking for a chat completion. Pure."""

    def parse(self, body: bytes, envelope: Envelope) -> ChatRequest:
        """What the body asks for. Raises ApiError."""
        ...
