"""How long prefixes lie idle between two uses, against each lifetime that their vendor sells."""

from collections import Counter, OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, log2

from headstart.insight.asked.asked import Asked
from headstart.ledger import Profile

MOST_PREFIXES = 4096
FINE = 4
"""Steps of the histogram for each doubling: a quantile is within a tenth."""


@dataclass(slots=True)
class Idle:
    """The idle times of one prefix, or of all conversations of one model. Tokens are its own."""

    name: str
    asked: Asked
    """One request that has it, without its body."""
    profile: Profile
    first: int = 0
    """Tokens written whatever lives how long: the prefix once; of conversations what is added."""
    uses: int = 0
    tokens: int = 0
    """Sum over all uses but the first."""
    within: Counter[str] = field(default_factory=Counter)
    """By lifetime: gaps that it outlives."""
    kept: Counter[str] = field(default_factory=Counter)
    """By lifetime: tokens used again within it."""
    pings: Counter[str] = field(default_factory=Counter)
    """By lifetime: requests that would have kept all of it warm."""
    pinged: Counter[str] = field(default_factory=Counter)
    """By lifetime: tokens that these would have read."""
    token_seconds: float = 0.0
    """Tokens held from the first use to the last."""
    last: float | None = None
    gaps: int = 0
    _steps: Counter[int] = field(default_factory=Counter)

    def use(self, now: float, tokens: int, since: float | None, added: int) -> None:
        """Used again, `since` its last use; None is the first."""
        self.uses += 1
        self.first += added
        if since is None:
            return
        gap = max(0.0, now - since)
        self.gaps += 1
        self.tokens += tokens
        self.token_seconds += tokens * gap
        self._steps[round(FINE * log2(max(gap, 1.0)))] += 1
        for name, lifetime in self.profile.lifetimes.items():
            pings = max(0, ceil(gap / lifetime.seconds) - 1)
            if not pings:
                self.within[name] += 1
                self.kept[name] += tokens
            self.pings[name] += pings
            self.pinged[name] += pings * tokens

    def quantile(self, share: float) -> float | None:
        """Seconds that so many of the gaps don't exceed; a second at least, within a tenth."""
        wanted, seen = share * self.gaps, 0
        for step, count in sorted(self._steps.items()):
            seen += count
            if seen >= wanted:
                return float(2 ** (step / FINE))
        return None


class Gaps:
    """Hears requests with their times."""

    def __init__(self) -> None:
        self._prefixes: OrderedDict[tuple[str, str, str], Idle] = OrderedDict()
        self._talks: dict[tuple[str, str], Idle] = {}

    def prefix(self, key: str, name: str, asked: Asked, profile: Profile, tokens: int) -> None:
        """A request that begins with the tools and instructions called `key`."""
        if asked.time is None or not profile.lifetimes or tokens < max(1, profile.minimum):
            return
        found = self._prefixes.get((asked.tenant, asked.model, key))
        if found is None:
            found = self._prefixes[asked.tenant, asked.model, key] = Idle(name, asked, profile)
            if len(self._prefixes) > MOST_PREFIXES:
                self._prefixes.popitem(last=False)
        self._prefixes.move_to_end((asked.tenant, asked.model, key))
        found.use(asked.time, tokens, found.last, 0 if found.uses else tokens)
        found.last = asked.time

    def turn(
        self, asked: Asked, before: Asked | None, profile: Profile, tokens: int, prompt: int
    ) -> None:
        """A turn behind another one, whose prompt had so many tokens."""
        if asked.time is None or not profile.lifetimes:
            return
        since = None if before is None or before.model != asked.model else before.time
        key = asked.vendor, asked.model
        if key not in self._talks:
            self._talks[key] = Idle(f"conversations with {asked.model}", asked, profile)
        kept = min(tokens, prompt) if since is not None else 0
        self._talks[key].use(asked.time, kept, since, prompt - kept)

    def __iter__(self) -> Iterator[Idle]:
        """Those with the most tokens first. Those of one name are told apart: tenants and models
        share nothing, so each has a lifetime of its own to choose."""
        known = [*self._prefixes.values(), *self._talks.values()]
        found = sorted(
            (each for each in known if each.gaps), key=lambda each: (-each.tokens, each.name)
        )
        alike: dict[str, list[Idle]] = {}
        for each in found:
            alike.setdefault(each.name, []).append(each)
        for each in found:
            told = _told_apart(each.asked, [other.asked for other in alike[each.name]])
            yield replace(each, name=f"{each.name} ({told})") if told else each


def _told_apart(asked: Asked, others: Sequence[Asked]) -> str:
    """What of a request is another one in the others."""
    told = []
    if len({other.tenant for other in others}) > 1:
        told.append(f"tenant {asked.tenant}" if asked.tenant else "no tenant")
    if len({other.model for other in others}) > 1:
        told.append(asked.model or "no model")
    if len({other.vendor for other in others}) > 1:
        told.append(asked.vendor)
    return ", ".join(told)
