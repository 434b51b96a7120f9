"""From a plan to the state machines that carry it out."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from headstart.insight.warm.dialects import DIALECTS
from headstart.insight.warm.dialects.dialect import Target
from headstart.insight.warm.errors import WarmError
from headstart.insight.warm.lives import margin_of
from headstart.insight.warm.plan_file import Plan, Prompt, seconds
from headstart.insight.warm.stakes import offer_of
from headstart.insight.warm.warming import Warming
from headstart.ledger import PriceBook, PriceError, Profile, Rules


@dataclass(frozen=True, slots=True)
class Lives:
    """How long a prefix does, and under which name it is billed."""

    name: str | None
    seconds: float


def begin(
    plan: Plan, *, prices: Path | None, now: float, limit: float | None = None
) -> list[Warming]:
    """One for each prompt. Raises WarmError and NoPrice."""
    rules = Rules.packaged()
    if plan.vendor not in rules.vendors:
        known = ", ".join(rules.vendors)
        raise WarmError(f"no rules for the vendor '{plan.vendor}': there are {known}")
    profile = rules.profile(plan.vendor, plan.model)
    try:
        book = PriceBook.standard(prices)
    except PriceError as error:
        raise WarmError(str(error)) from None
    dialect = DIALECTS[plan.dialect]
    warmings = []
    for prompt in plan.prompts:
        marked = dialect.lifetimes(prompt.body)
        lives = _lives(prompt, profile, marked)
        offer = offer_of(
            plan.vendor,
            plan.model,
            lifetime=lives.name,
            seconds=lives.seconds,
            tokens=prompt.tokens,
            book=book,
            rules=rules,
            moment=datetime.fromtimestamp(now, UTC),
        )
        target = Target(
            model=plan.model,
            body=prompt.body,
            profile=profile,
            lifetime=lives.name,
            seconds=lives.seconds,
            interval=lives.seconds - margin_of(lives.seconds),
            resource=prompt.resource,
        )
        warmings.append(
            Warming(
                name=prompt.name,
                dialect=dialect,
                target=target,
                offer=offer,
                expected=prompt.expected,
                prefix=prompt.tokens,
                begin=now,
                limit=limit,
            )
        )
    return warmings


def _lives(prompt: Prompt, profile: Profile, marked: Collection[str]) -> Lives:
    """The plan's word, else the shortest that the body's marks ask for, else the vendor's default.

    All that is marked is kept only if calls come as often as the shortest needs.
    """
    known = profile.lifetimes
    asked = sorted((name for name in marked if name in known), key=lambda n: known[n].seconds)
    default = next(iter(asked), profile.default_lifetime)
    given = prompt.lifetime
    if given is not None and given in known:
        return Lives(given, known[given].seconds)
    if given is not None:
        return Lives(default, seconds(given, f"{prompt.name}: a lifetime"))
    if default is None:
        raise WarmError(
            f"{prompt.name}: nobody says how long it lives: give its 'lifetime', such as 10m"
        )
    return Lives(default, known[default].seconds)
