"""What is wrong with a plan, and what to do first."""

from collections.abc import Iterator

from headstart.insight.plan.ask import Ask
from headstart.insight.plan.memory import room
from headstart.insight.plan.money import lives, reads_to_break_even
from headstart.insight.plan.sections.prefill import hit, miss

LOW_CEILING = 0.5
SMALL_SHARE = 0.2


def findings(ask: Ask) -> Iterator[str]:
    """Each in one line; none is fine."""
    prompt, there = ask.prompt, room(ask)
    if there.pool <= 0:
        over = (-there.pool) / 1e9
        yield f"The weights don't fit: {over:.1f} GB too much on each GPU."
    elif prompt.reusable and not there.copies:
        yield "Not one prefix fits in the KV pool."
    if not prompt.reusable:
        yield f"Nothing is reusable: the prefix fills no block of {prompt.block} tokens."
    if ask.hit_rate is not None and ask.hit_rate > prompt.ceiling:
        yield (
            f"A hit rate of {ask.hit_rate:.2%} is impossible: of these prompts at most "
            f"{prompt.ceiling:.2%} comes again."
        )
    context = ask.model.shape.context
    if context is not None and prompt.tokens > context:
        yield f"The prompt has {prompt.tokens:,} tokens, the model's context {context:,}."
    if ask.curve is not None and there.pool > 0 and not any(ask.curve.planned.rates.values()):
        yield "The trace hits nothing in this plan's pool."
    yield from _money_findings(ask)


def _money_findings(ask: Ask) -> Iterator[str]:
    offer = ask.offer
    if offer is None:
        return
    if ask.prompt.prefix < offer.profile.minimum:
        yield f"{offer.name} caches no prefix below {offer.profile.minimum:,} tokens."
    if not lives(offer, ask.gap):
        yield f"The prefix has expired whenever it comes again: it lives {offer.seconds:,.0f} s."
    if reads_to_break_even(offer, ask.gap) is None:
        yield "Writing this prefix never pays: a read costs no less than computing it."


def advice(ask: Ask) -> list[str]:
    """Hit rate first, then prefill's share of the time, then other means."""
    return [_hit_rate(ask), _prefill_share(ask), OTHER_MEANS]


OTHER_MEANS = (
    "Other means act elsewhere and are in none of these numbers, nor to be multiplied with them: "
    "chunked prefill keeps others' decoding steady, prefill/decode disaggregation keeps the two "
    "apart, speculation shortens decoding."
)


def _hit_rate(ask: Ask) -> str:
    best = ask.prompt.reusable / ask.prompt.tokens
    if best < LOW_CEILING:
        return (
            f"Hit rate first: at most {best:.1%} of each prompt comes again. Move what changes to "
            "the end and what stays to the begin; until then nothing else here pays. Don't add "
            "tokens only to raise the rate: what is paid counts."
        )
    if ask.hit_rate is not None and ask.hit_rate < best:
        return (
            f"Hit rate first: {ask.hit_rate:.1%} of at most {best:.1%}. `headstart explain` says "
            "of a prompt where the rest is lost."
        )
    return (
        f"Hit rate first: measure it, in tokens; {best:.1%} can be had. If it is less, look for a "
        "date, an id or a changed tool before the end of the prefix, then for eviction."
    )


def _prefill_share(ask: Ask) -> str:
    overhead = ask.machine.overhead
    cold, warm = miss(ask).seconds, hit(ask).seconds
    before, after = cold / (cold + overhead), warm / (warm + overhead)
    if after < SMALL_SHARE:
        return (
            f"Then prefill's share: {before:.0%} of a miss, {after:.0%} of a hit. After a hit it "
            "is small: queue, network and the first decode step are what is left."
        )
    return (
        f"Then prefill's share: {before:.0%} of a miss, {after:.0%} of a hit. Shorter questions "
        "and more or faster GPUs still help a hit."
    )
