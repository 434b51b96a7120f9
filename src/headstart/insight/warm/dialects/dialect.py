"""The seam that every API fills: its cheapest call that touches a prefix, and what it answers."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from headstart.ledger import Account, Profile


@dataclass(frozen=True, slots=True)
class Target:
    """A prompt in an API's terms."""

    model: str
    body: Mapping[str, Any]
    profile: Profile
    """The vendor's rules for the model."""
    lifetime: str | None
    """As the vendor names it; None where it names none."""
    seconds: float
    """How long it lives without use."""
    interval: float
    """Seconds between calls."""
    resource: str | None = None
    """Of an API where what is cached has a name: the one that exists already."""


@dataclass(frozen=True, slots=True)
class Call:
    """An HTTP request. `body` None has none."""

    method: str
    path: str
    body: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Heard:
    """What an answer's own counters tell."""

    account: Account
    found: int | None
    """Tokens that were there already; None where the endpoint doesn't tell."""
    kept: int | None
    """Tokens that are there now; None where it tells only what was there."""
    expires: float | None = None
    """When they go, in Unix seconds, where the answer says so."""
    resource: str | None = None


class Dialect(Protocol):
    """One API. Pure."""

    vendor: ClassVar[str]
    """Whose rules and prices apply unless a plan says otherwise."""

    def headers(self, key: str | None) -> Mapping[str, str]:
        """Of every call."""
        ...

    def problem(self, body: Mapping[str, Any], resource: str | None) -> str | None:
        """Why nothing could ever be kept of it."""
        ...

    def lifetimes(self, body: Mapping[str, Any]) -> Collection[str]:
        """Those that the body's own marks ask for, as the vendor names them."""
        ...

    def offered(self, profile: Profile) -> Collection[str]:
        """Lifetimes of the vendor's that a body could ask for."""
        ...

    def call(self, target: Target, last: Heard | None) -> Call:
        """The next call. `last`: the answer to the one before."""
        ...

    def heard(self, answer: bytes, target: Target, last: Heard | None, now: float) -> Heard:
        """Raises msgspec.MsgspecError for what is no such answer."""
        ...

    def bills(self, target: Target, prefix: int, rest: int) -> tuple[Account, Account]:
        """Of the first call and of each later one. `rest`: tokens behind what is kept."""
        ...
