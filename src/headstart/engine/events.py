"""What the engine tells of its cache to whoever keeps a picture of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from headstart.cache import Event, Stored


class EventSink(Protocol):
    """Takes batches of events. Called under the engine's lock: it returns at once, never raises."""

    @property
    def next_seq(self) -> int:
        """The number of the batch that comes next."""
        ...

    @property
    def dropped(self) -> int:
        """Batches that were never sent, since start."""
        ...

    def publish(self, events: Sequence[Event]) -> None:
        """Take one batch, in order."""
        ...


@dataclass(frozen=True, slots=True)
class KVSource:
    """What all KV of this engine has in common."""

    block_size: int
    medium: Literal["CPU", "GPU"]
    """Where the pool is."""
    adapters: Mapping[bytes, str]
    """Names by content digest; of two names for one content, the first."""


class EventSource(Protocol):
    """An engine, to those who carry its events on."""

    @property
    def kv_source(self) -> KVSource:
        """What all its KV has in common."""
        ...

    def follow(self, sink: EventSink) -> None:
        """Tell `sink` what can be found now, and from now on what changes."""
        ...


@dataclass(frozen=True, slots=True)
class KVPicture:
    """What can be found at one moment."""

    stored: Sequence[Stored]
    """Parents before children."""
    next_seq: int | None
    """The first batch of events that isn't part of it; None where nobody is told of events."""
