"""From what a contract would read and write to what it may: read = min(contract, engine)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from headstart.contracts.entries import Entries


@dataclass(frozen=True, slots=True)
class Hit:
    """The longest live entry that the request may read."""

    key: bytes
    end: int
    """Its tokens, in this prompt."""
    lifetime: str = ""
    seconds: float = 0.0
    """Of life that being read gives it; 0 where the reading of it alone gives none."""


@dataclass(frozen=True, slots=True)
class Write:
    """A prefix that the request writes."""

    key: bytes
    end: int
    lifetime: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Trail:
    """Prefixes at every so many tokens, kept for as long as it happens to last.

    They cost nothing and promise nothing, so they are neither billed nor pinned.
    """

    keys: Sequence[bytes]
    """From the shortest to the longest."""
    seconds: float
    lifetime: str = ""

    def commit(self, entries: Entries, tenant: str, now: float) -> None:
        """Write those that are new and refresh the others."""
        entries.put_all(
            tenant, reversed(self.keys), lifetime=self.lifetime, seconds=self.seconds, now=now
        )


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
    """By ascending end. What is marked but cached is named too: it is written again if the engine
    no longer has it."""
    billed: tuple[str, ...] = ()
    """The lifetimes whose writes the vendor counts, also as 0; others are fresh."""
    trail: Trail | None = None
    unit: int = 1
    """Reads are cut down to a multiple of this."""
    minimum: int = 0
    """Reads of less are none."""

    def settle(self, reused: int) -> Decision:
        """The account, given the prompt tokens whose prefill the engine skipped.

        What is marked with a longer lifetime is billed with it up to its last mark, what comes
        after with the shorter one (Anthropic's A, B and C).
        """
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
        prefixes: list[Hit | Write] = [*self.writes]
        if self.hit is not None and self.hit.seconds:
            prefixes.append(self.hit)
        for prefix in prefixes:
            entries.put(
                self.tenant,
                prefix.key,
                lifetime=prefix.lifetime,
                seconds=prefix.seconds,
                now=now,
            )
        if self.trail is not None:
            self.trail.commit(entries, self.tenant, now)

    @property
    def kept(self) -> list[tuple[int, float]]:
        """(tokens, seconds) of every prefix that is promised to stay."""
        prefixes: list[Hit | Write] = [*self.writes]
        if self.hit is not None and self.hit.seconds:
            prefixes.append(self.hit)
        return [(prefix.end, prefix.seconds) for prefix in prefixes]
