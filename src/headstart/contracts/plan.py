"""From what a contract would read and write to what it may: read = min(contract, engine)."""

from collections.abc import Mapping
from dataclasses import dataclass

from headstart.contracts.entries import Entries


@dataclass(frozen=True, slots=True)
class Hit:
    """The longest live entry that the request may read."""

    key: bytes
    end: int
    """Its tokens, in this prompt."""
    lifetime: str
    seconds: float
    """Of life from now on; 0 where the contract keeps no entry of its own."""


@dataclass(frozen=True, slots=True)
class Write:
    """A prefix that the request writes."""

    key: bytes
    end: int
    lifetime: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Decision:
    """The account's input side, fixed. fresh + read + written = prompt, each at least 0."""

    prompt: int
    read: int
    written: Mapping[str, int]
    """By lifetime, as the vendor spells it: every one that it bills is named."""

    @property
    def fresh(self) -> int:
        """Computed, and neither read nor written."""
        return self.prompt - self.read - sum(self.written.values())


@dataclass(frozen=True, slots=True)
class Plan:
    """What a request may read and will write, as things stood when it arrived.

    `settle` needs what the engine really reused; `commit` makes the entries readable, which for
    most vendors is when the response begins.
    """

    tenant: str
    prompt: int
    hit: Hit | None = None
    writes: tuple[Write, ...] = ()
    """By ascending end."""
    billed: tuple[str, ...] = ()
    """The lifetimes whose writes the vendor counts, also as 0; others are fresh."""
    unit: int = 1
    """Reads are cut down to a multiple of this."""
    minimum: int = 0
    """Reads of less are none."""

    def settle(self, reused: int) -> Decision:
        """The account, given the prompt tokens whose prefill the engine skipped."""
        read = 0 if self.hit is None else min(self.hit.end, reused)
        read -= read % self.unit
        if read < self.minimum:
            read = 0
        written = dict.fromkeys(self.billed, 0)
        done = read
        for write in sorted(self.writes, key=lambda write: (-write.seconds, write.end)):
            if write.lifetime in written and write.end > done:
                written[write.lifetime] += write.end - done
                done = write.end
        return Decision(self.prompt, read, written)

    def commit(self, entries: Entries, now: float) -> None:
        """Write the entries and refresh the one that was read. `now`: when the request began."""
        if self.hit is not None and self.hit.seconds:
            self._put(entries, self.hit, now)
        for write in self.writes:
            self._put(entries, write, now)

    def _put(self, entries: Entries, prefix: Hit | Write, now: float) -> None:
        entries.put(
            self.tenant,
            prefix.key,
            tokens=prefix.end,
            lifetime=prefix.lifetime,
            seconds=prefix.seconds,
            now=now,
        )

    @property
    def kept(self) -> list[tuple[int, float]]:
        """(tokens, seconds) of every prefix that is promised to stay."""
        prefixes: list[Hit | Write] = [*self.writes]
        if self.hit is not None and self.hit.seconds:
            prefixes.append(self.hit)
        return [(prefix.end, prefix.seconds) for prefix in prefixes]
