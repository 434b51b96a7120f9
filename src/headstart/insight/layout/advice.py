"""What else to do about a layout, in sentences."""

from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal

from headstart.insight.layout.document import Laid
from headstart.insight.layout.edges import BY_MARKS
from headstart.insight.layout.families import Family
from headstart.insight.layout.segment import Segment
from headstart.ledger import Profile, Rates, break_even


def advice(laid: Laid, family: Family, profile: Profile, rates: Rates | None) -> tuple[str, ...]:
    """In the order in which it pays to read it."""
    return (
        *_again(laid, profile),
        *_minimum(laid, profile),
        *_lifetime(laid),
        *_key(laid, family, profile),
        *_content(laid, family, profile, rates),
    )


def _again(laid: Laid, profile: Profile) -> Iterator[str]:
    """Whether anything re-sends this beginning: context that is used once is not to be cached."""
    if laid.imagined:
        life = profile.lifetimes.get(profile.default_lifetime or "")
        reads = break_even(life.write, profile.read) if life and profile.read is not None else None
        pays = f" A write pays from {reads:.2f} reads on." if reads else ""
        yield f"One request can't tell whether another begins so: lay out a log.{pays}"
    elif not laid.suggested.resent:
        yield "No request begins as an earlier one did, in any order: don't pay to cache this."
    else:
        yield (
            f"{laid.suggested.resent} of {laid.requests} requests can begin as an earlier one did; "
            f"as given it is {laid.given.resent}."
        )


def _minimum(laid: Laid, profile: Profile) -> Iterator[str]:
    stays = laid.sizes[Segment.SESSION].through
    if stays < profile.minimum:
        yield (
            f"What stays is {stays:,} tokens, and {laid.model or laid.vendor} caches from "
            f"{profile.minimum:,} on."
        )


def _lifetime(laid: Laid) -> Iterator[str]:
    if laid.gaps:
        spans = ", ".join(f"{gap.lifetime} spans {gap.within:.0%}" for gap in laid.gaps)
        yield f"Of the gaps between requests {spans}."


def _key(laid: Laid, family: Family, profile: Profile) -> Iterator[str]:
    """C25: where requests are routed, and who may share."""
    partitions = {asked.partition for asked in family.requests}
    tenants = {asked.tenant for asked in family.requests}
    match laid.vendor:
        case "openai" if len(partitions) > 1:
            walls = "none can read" if profile.contract in BY_MARKS else "are routed away from"
            yield (
                f"{len(partitions)} values of prompt_cache_key share what never changes, and "
                f"{walls} what another wrote: send one for all."
            )
        case "openai" if partitions == {""} and not laid.imagined:
            yield "Send one prompt_cache_key with all of these: OpenAI routes by it."
        case "engine" if len(tenants) > 1:
            yield f"Send a cache_salt for each of the {len(tenants)} tenants if none may share."


def _content(laid: Laid, family: Family, profile: Profile, rates: Rates | None) -> Iterator[str]:
    """C26: one document that many questions meet, held and paid by the hour."""
    stays = laid.sizes[Segment.ALWAYS].tokens
    minimum = profile.explicit_minimum
    if laid.vendor != "gemini" or minimum is None or stays < minimum or laid.imagined:
        return
    times = [asked.time for asked in family.requests if asked.time is not None]
    if len(times) < 2 or rates is None:
        return
    day = family.requests[0].time
    hours = Decimal(max(times) - min(times)) / 3600
    price = profile.rent(datetime.fromtimestamp(day, UTC).date()) if day is not None else None
    read = rates.read if rates.read is not None else rates.input * (profile.read or 1)
    if price is None or read >= rates.input:
        return
    million = Decimal(1_000_000)
    rent = stays * price * hours / million
    saved = laid.requests * stays * (rates.input - read) / million - stays * rates.input / million
    often = price / (rates.input - read)
    better = "pays" if saved > rent else "does not pay"
    yield (
        f"A cachedContents of the {stays:,} tokens that never change {better}: over {hours:.1f} h "
        f"its rent is ${rent:.4f}, and certain reads save ${saved:.4f} against none; from "
        f"{often:.1f} requests an hour on it is worth its rent."
    )
