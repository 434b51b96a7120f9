"""What stood in the way, by name: the first that applies."""

from dataclasses import dataclass
from typing import Literal

from headstart.cache import Reason
from headstart.insight.causes import Cause
from headstart.insight.explain.history import Told

Outcome = Literal["lost", "nothing_lost", "unknown"]

BY_REASON = {
    Reason.EVICTED: Cause.EVICTED,
    Reason.EXPIRED: Cause.EXPIRED,
    Reason.OTHER_NAMESPACE: Cause.NAMESPACE,
    Reason.TIER_DOWN: Cause.TIER_DOWN,
}
"""What a server says of a miss that no text explains."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome, and why."""

    outcome: Outcome
    cause: Cause | None
    said: str
    """What is so, in a few words; empty where what stood there and stands there now says it."""
    lost: int = 0
    """Prompt tokens that could have been read, and were not for this cause."""


def judge(told: Told) -> Verdict:
    """Of one request."""
    if told.rehearsed.refusal is not None:
        return _marked(told) or Verdict("lost", Cause.MARKER_REFUSED, str(told.rehearsed.refusal))
    if told.earlier is None:
        return Verdict("nothing_lost", Cause.NEVER_SEEN, "there is no earlier request to read from")
    if not told.asked.pieces or told.asked.body.get("previous_response_id"):
        return Verdict("unknown", None, "not all that it asks is in its body")
    if told.found is not None:
        return Verdict("lost", told.found.cause, "", _lost(told))
    return _expired(told) or _marked(told) or _measured(told) or _healthy(told)


def _lost(told: Told) -> int:
    """Tokens behind the break that the earlier request has too."""
    found, ends = told.found, told.rehearsed.prompt.ends
    assert found is not None, "something broke"
    sizes = {
        id(piece): end - begin
        for piece, begin, end in zip(told.asked.pieces, [0, *ends], ends, strict=False)
    }
    lost = sum(sizes.get(id(piece), 0) for piece in found.lost)
    if found.piece is not None and found.lost_within:
        size = sizes.get(id(found.piece), 0)
        lost += size * found.lost_within // max(1, len(found.piece.text))
    return min(lost, max(0, told.rehearsed.prompt.tokens - 1))


def _marked(told: Told) -> Verdict | None:
    wrong = told.misplaced
    if wrong is None:
        return None
    return Verdict("lost", wrong.cause, wrong.said, wrong.tokens)


def _expired(told: Told) -> Verdict | None:
    """By the recording's times and the vendor's lifetimes."""
    lost = told.forever - told.rehearsed.account.read
    if lost <= 0 or told.since is None:
        return None
    lifetimes = told.rehearsed.profile.lifetimes.items()
    lives = ", ".join(f"{name} is {each.seconds:g} s" for name, each in lifetimes)
    said = f"{told.since:g} s after the earlier request"
    return Verdict("lost", Cause.EXPIRED, f"{said}; {lives}" if lives else said, lost)


def _measured(told: Told) -> Verdict | None:
    """The usage object says that less was read than the rules let expect."""
    account, expected = told.asked.account, told.rehearsed.account.read
    named = BY_REASON.get(Reason(told.asked.reason)) if told.asked.reason in list(Reason) else None
    if account is None:
        return None if named is None else Verdict("lost", named, "the server says so")
    lost = expected - account.read
    if named is not None:
        return Verdict("lost", named, "the server says so", max(0, lost))
    if not expected or account.read:
        return None
    assert told.earlier is not None, "it has been asked for"
    if told.asked.route != told.earlier.route:
        said = f"{told.earlier.route or 'elsewhere'} before, {told.asked.route or 'elsewhere'} now"
        return Verdict("lost", Cause.SCATTERED, said, lost)
    said = (
        "its usage says that nothing was read, and nothing in the recording says why: evicted, or "
        "sent to another machine"
    )
    return Verdict("unknown", None, said, lost)


def _healthy(told: Told) -> Verdict:
    earlier = told.earlier
    assert earlier is not None, "it has been asked for"
    before, after = earlier.pieces, told.asked.pieces
    digests = [[piece.digest for piece in pieces] for pieces in (before, after)]
    if digests[0] == digests[1]:
        return Verdict("nothing_lost", None, "the same prompt again")
    if digests[1][: len(before)] == digests[0]:
        return Verdict("nothing_lost", None, "it only grew")
    return Verdict("nothing_lost", None, "another question on what both begin with")
