"""Why one request read less than it could have: causes of the closed list, with tokens."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from headstart.insight.asked.asked import Asked
from headstart.insight.causes import Cause
from headstart.insight.compare.broken import Break
from headstart.insight.lint.marks import Misplaced
from headstart.insight.report.ceiling import Reusable
from headstart.insight.report.sessions import Turn
from headstart.ledger import Account, Profile

LITTLE = 128
"""Tokens that are nobody's fault: frames, whole blocks, an estimate's error."""
LITTLE_SHARE = 0.05
"""Of the prompt, the same."""

SAID: Mapping[str, Cause] = {
    "expired": Cause.EXPIRED,
    "evicted": Cause.EVICTED,
    "tier_down": Cause.TIER_DOWN,
    "other_namespace": Cause.NAMESPACE,
    "below_minimum": Cause.BELOW_MINIMUM,
    "block_floor": Cause.BLOCK_FLOOR,
    "never_seen": Cause.NEVER_SEEN,
}
"""What a server's reason for a miss says of its cause. `diverged` says that, and not why."""


CONSEQUENCES = (None, Cause.BELOW_MINIMUM, Cause.MARKER_AFTER_VOLATILE, Cause.LOOKBACK)
"""What a break brings about: the beginning before it is short, and nothing was written there."""


@dataclass(frozen=True, slots=True)
class Loss:
    """Tokens that would have been read but for one cause."""

    cause: Cause | None
    """None: the recording doesn't tell."""
    tokens: int


@dataclass(frozen=True, slots=True)
class Known:
    """One request and what was found out about it."""

    asked: Asked
    account: Account
    profile: Profile
    turn: Turn
    earlier: Asked | None = None
    reusable: Reusable | None = None
    """None without a body."""
    found: Break | None = None
    broken_tokens: int = 0
    """Estimated tokens behind the break that both requests have."""
    misplaced: Sequence[Misplaced] = ()


def losses(known: Known) -> Iterator[Loss]:
    """Of a break, what stands behind it; and of what could have been read, what wasn't."""
    account, reusable = known.account, known.reusable
    left = account.prompt - account.read
    behind = 0
    if reusable is not None and known.found is not None:
        behind = min(left, reusable.of(account.prompt, known.broken_tokens))
    could = _could(known)
    missed = min(left - behind, could - account.read)
    if missed > max(LITTLE, LITTLE_SHARE * account.prompt):
        cause = _cause(known, could)
        if known.found is not None and cause in CONSEQUENCES:
            behind += missed
        else:
            yield Loss(cause, missed)
    if behind and known.found is not None:
        yield Loss(known.found.cause, behind)


def _could(known: Known) -> int:
    """From the bodies; without them a session is taken to carry all that was said before."""
    if known.reusable is not None:
        return known.reusable.of(known.account.prompt)
    if known.turn.before is None or known.account.prompt < known.turn.before_prompt:
        return 0
    return known.turn.before_prompt


def _cause(known: Known, could: int) -> Cause | None:
    """What is certain first: what the server said, the marks, the rules, the time, the place."""
    asked, profile = known.asked, known.profile
    said = SAID.get(asked.reason)
    if said is not None:
        return said
    if known.misplaced:
        return known.misplaced[0].cause
    before = known.turn.before or known.earlier
    if before is not None and before.model != asked.model:
        return Cause.MODEL
    if could < profile.minimum:
        return Cause.BELOW_MINIMUM
    if before is not None and _outlived(before, asked, profile):
        return Cause.EXPIRED
    if before is not None and before.route and asked.route and before.route != asked.route:
        return Cause.SCATTERED
    return None


def _outlived(before: Asked, asked: Asked, profile: Profile) -> bool:
    if before.time is None or asked.time is None or not profile.lifetimes:
        return False
    ttls = {piece.mark.ttl for piece in asked.pieces if piece.mark is not None}
    known = [lifetime for name, lifetime in profile.lifetimes.items() if name in ttls]
    free = profile.lifetimes.get("implicit")
    default = free or next(iter(profile.lifetimes.values()))
    seconds = max((each.seconds for each in known), default=default.seconds)
    return asked.time - before.time > seconds
