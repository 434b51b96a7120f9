"""From findings to a proved set of rewrites."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from headstart.insight.causes import ABOUT, Cause
from headstart.insight.fix.marks import LAYOUTS, Marked
from headstart.insight.fix.needs import Needs
from headstart.insight.fix.rewrite import Rewrite
from headstart.insight.fix.same import FORMS
from headstart.insight.fix.trial import Score, Stopped, Trial
from headstart.insight.fix.values import VALUES
from headstart.insight.lint.marks import BY_MARKS
from headstart.ledger import Rules

NO_PROOF = "only suspected: no two requests show it, so no replay can prove a gain"
LESS = Decimal("0.99")
"""Of the money, where no more is read: moved text may count a token less, which is no gain."""
NO_GAIN = "the replay reads no more for it, or costs more"


@dataclass(slots=True)
class Fixed:
    """What is done, and what isn't."""

    plan: list[Rewrite]
    before: Score
    after: Score
    left: dict[Cause, str] = field(default_factory=dict)
    """Causes that were found and stay, and why."""
    partly: Mapping[Cause, str] = field(default_factory=dict)
    """Why a cause that was fixed may stay in some places."""


def fix(wanted: Needs, found: Sequence[Cause], trial: Trial, rules: Rules) -> Fixed:
    """The rewrites that read most and cost no more; each of them is needed for it."""
    before = trial.score()
    left = dict(wanted.unfit)
    best: tuple[Score, list[Rewrite]] = before, []
    if wanted.texts or wanted.values or wanted.markers:
        for texts in wanted.plans():
            plan, score = _guarded(texts, trial, left)
            best = _better(best, (score, plan), before)
            if not (score.contracts & set(BY_MARKS) or wanted.markers):
                continue
            for layout in LAYOUTS:
                marked = Marked(layout, score.lasting, rules, one_life=wanted.one_life)
                best = _better(best, _tried([*plan, marked], trial, left), before)
    after, plan = _needed(best, trial)
    done = {cause for rewrite in plan for cause in rewrite.causes}
    for cause in found:
        if cause not in done:
            tried = wanted.partly.get(cause, NO_GAIN)
            left.setdefault(cause, tried if _has_rewrite(cause, wanted) else _by_hand(cause))
    left = {cause: why for cause, why in left.items() if cause in found and cause not in done}
    return Fixed(plan, before, after, left, wanted.partly)


def _guarded(
    plan: list[Rewrite], trial: Trial, left: dict[Cause, str]
) -> tuple[list[Rewrite], Score]:
    """Without what crosses the guard."""
    while True:
        try:
            return plan, trial.score(plan)
        except Stopped as stopped:
            _note(stopped, left)
            plan = [each for each in plan if each is not stopped.rewrite]


def _tried(
    plan: list[Rewrite], trial: Trial, left: dict[Cause, str]
) -> tuple[Score, list[Rewrite]] | None:
    try:
        return trial.score(plan), plan
    except Stopped as stopped:
        _note(stopped, left)
        return None


def _note(stopped: Stopped, left: dict[Cause, str]) -> None:
    for cause in stopped.rewrite.causes:
        left.setdefault(cause, f"the guard forbids it: {stopped}")


def _better(
    best: tuple[Score, list[Rewrite]], other: tuple[Score, list[Rewrite]] | None, before: Score
) -> tuple[Score, list[Rewrite]]:
    """The one that reads more; of two that read the same, that whose prompts have more in common,
    since where a vendor's steps lie is not told; then the cheaper, then the shorter."""
    if other is None or not gains(before, other[0]):
        return best
    return other if _merit(other) > _merit(best) else best


def _merit(each: tuple[Score, list[Rewrite]]) -> tuple[int, int, int, Decimal, int]:
    score, plan = each
    money = score.money if score.money is not None else Decimal(0)
    return -score.refused, score.read, score.reused, -money, -len(plan)


def gains(before: Score, after: Score) -> bool:
    """Whether more is read for no more money, or as much for less. A request that was refused cost
    nothing, and was worth nothing."""
    if after.refused != before.refused:
        return after.refused < before.refused
    if before.money is not None and after.money is not None:
        if after.read == before.read:
            return after.money < LESS * before.money
        if after.money > before.money:
            return False
    return after.read > before.read


def _needed(best: tuple[Score, list[Rewrite]], trial: Trial) -> tuple[Score, list[Rewrite]]:
    """Without rewrites that change nothing for the better."""
    score, plan = best
    for rewrite in plan:
        fewer = [each for each in plan if each is not rewrite]
        try:
            less = trial.score(fewer)
        except Stopped:
            continue
        if not gains(less, score):
            score, plan = less, fewer
    return score, plan


def _has_rewrite(cause: Cause, wanted: Needs) -> bool:
    return any(cause in rewrite.causes for plan in wanted.plans() for rewrite in plan) or (
        wanted.markers and cause in Marked.causes
    )


def _by_hand(cause: Cause) -> str:
    if cause in VALUES or cause in FORMS:
        return NO_PROOF
    return f"not from the requests alone. {ABOUT[cause].way_out}"
