"""What every dialect's file provides."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urlsplit

import msgspec

from headstart.insight.probe.script import NOTHING_TOLD, Prompt, Usage
from headstart.insight.wire import EndpointError


@dataclass(frozen=True, slots=True)
class Form:
    """One way to write a request, of those that servers of one dialect may refuse."""

    marks: bool = False
    """The end of the prefix is marked as something to cache."""
    limit: str = ""
    """The field that limits the answer, where there are several."""


@dataclass(frozen=True, slots=True)
class Heard:
    """What one event of a stream says."""

    token: bool = False
    """A token has been generated for sure."""
    usage: Usage = NOTHING_TOLD
    last: bool = False
    """The answer is whole: nothing that matters comes after it."""


class Wire(Protocol):
    """A dialect as a client speaks it."""

    @property
    def vendor(self) -> str:
        """Whose prices and cache rules go with it, by the ledger's name."""
        ...

    @property
    def key_variables(self) -> Sequence[str]:
        """Environment variables that hold the vendor's key; the first that is set counts."""
        ...

    @property
    def forms(self) -> Sequence[Form]:
        """Best first."""
        ...

    @property
    def least_output(self) -> int:
        """The lowest limit of an answer that the vendor accepts, in tokens."""
        ...

    def headers(self, key: str | None) -> Mapping[str, str]:
        """What its clients send, the key among it."""
        ...

    def models_url(self, url: str) -> str:
        """Where the endpoint at `url` lists its models."""
        ...

    def url(self, url: str, model: str, /) -> str:
        """Where the endpoint at `url` is asked."""
        ...

    def body(self, model: str, prompt: Prompt, output: int, form: Form, /) -> dict[str, Any]:
        """A streamed request for at most `output` tokens."""
        ...

    def hear(self, payload: bytes) -> Heard:
        """Read one event. Raises EndpointError if it is an error or foreign."""
        ...


def bare(url: str) -> str:
    """`url` without a slash or a version at its end."""
    root = url.rstrip("/")
    head, _, tail = root.rpartition("/")
    return head if tail in ("v1", "v1beta") else root


def versioned(url: str) -> str:
    """OpenAI's base URL as its SDK takes it: as given, or `/v1` under a bare host."""
    root = url.rstrip("/")
    return root if urlsplit(root).path else f"{root}/v1"


def foreign(payload: bytes, error: msgspec.MsgspecError) -> EndpointError:
    """An event that is none of this dialect's."""
    shown = payload[:200].decode(errors="replace")
    return EndpointError(f"unreadable stream event ({error}): {shown}")
