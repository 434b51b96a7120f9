"""The closed list of verdicts: each has a name, a status, what it says and what it can't."""

from collections.abc import Mapping
from dataclasses import dataclass

from headstart.insight.probe.signs import Counters, Signs, Timing

FINE, FINDING, IMPOSSIBLE, ABSTAINED = 0, 1, 2, 3
"""Exit statuses."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was proved."""

    name: str
    status: int
    says: str
    limit: str
    """What it leaves open."""


OWN_WORD = "Counters are the endpoint's own word; nothing here can look behind them."
TIME_ALONE = (
    "Time alone can't prove a prefix cache: the control arm rules out length, warm connections and"
    " drift, but a cache of whole answers or a router would look the same, and no time tells which"
    " tokens were reused or what is billed."
)
CAUSES = (
    "From outside a cache that is off looks like a prompt below its minimum, a prefix that needs a"
    " mark, a cache key or a moment to be written (--pause), a way to another replica,"
    " or a gateway that changes the prompt's beginning."
)

PROVED = Verdict(
    "proved",
    FINE,
    "Reuse works: the counters say so, and the third call is faster than an unseen prefix beyond"
    " noise.",
    OWN_WORD + " That the time agrees makes it hard to be wrong.",
)
COUNTED = Verdict(
    "counted",
    FINE,
    "Reuse works by the counters; the times are too noisy to say whether it is felt.",
    OWN_WORD,
)
COUNTED_NOT_FELT = Verdict(
    "counted_not_felt",
    FINE,
    "The counters claim reuse, but its first token comes no tenth sooner than an unseen prefix's.",
    OWN_WORD + " A prefill that is small against network and queue would look the same.",
)
UNSTEADY = Verdict(
    "unsteady",
    FINDING,
    "The counters report reuse in some samples only: there is a cache, and it doesn't find the"
    " prefix each time.",
    "Routing over replicas, eviction and a delay before a prefix can be read look the same.",
)
TIMED = Verdict(
    "timed",
    FINE,
    "The third call is faster than an unseen prefix beyond noise; no counters tell of reuse.",
    TIME_ALONE,
)
CONTRADICTED = Verdict(
    "contradicted",
    FINDING,
    "The counters say that nothing is reused, yet the third call is faster than an unseen prefix.",
    TIME_ALONE + " What isn't counted isn't discounted either.",
)
NO_REUSE = Verdict(
    "no_reuse",
    FINDING,
    "No reuse: the counters say so, and the times don't contradict them beyond doubt.",
    CAUSES,
)
NOT_FELT = Verdict(
    "not_felt",
    FINDING,
    "No sign of reuse: nothing is counted, and the first token comes no tenth sooner than with an"
    " unseen prefix.",
    "A prefill that is small against network and queue hides any reuse. " + CAUSES,
)
BROKEN_BY_CLOCK = Verdict(
    "broken_by_clock",
    FINDING,
    "The cache works, this prompt defeats it: with its clock where it is nothing is reused, with"
    " the clock behind the question it is.",
    "It is shown for the clock alone; ids and retrieved text in its place would do the same.",
)
FALSE_COUNTERS = Verdict(
    "false_counters",
    FINDING,
    "The counters can't be true: they read a prefix that nobody has seen, more tokens than a prompt"
    " has, or fewer than none.",
    "Nothing is decided by such counters; what the times say stands below. " + TIME_ALONE,
)
UNDECIDED = Verdict(
    "undecided",
    ABSTAINED,
    "Undecided: nothing is counted, and the times are too noisy or too few.",
    "More samples (-n), a longer --prefix or a quieter time may decide.",
)

CAPACITY_FOUND = Verdict(
    "capacity_found",
    FINE,
    "All prefixes together were kept up to one size, and not all up to a larger one.",
    "What others have in the cache may take room too, and what new prefixes get may be less than"
    " there is. " + OWN_WORD,
)
AT_LEAST = Verdict(
    "at_least",
    FINE,
    "Nothing was gone when the budget ended: it keeps at least so much.",
    OWN_WORD,
)
UNCOUNTED = Verdict(
    "uncounted",
    ABSTAINED,
    "Retention can't be found: the endpoint doesn't count what it reads from its cache, and the"
    " time of a single request doesn't tell a hit from noise.",
    "Without --retention the self-test may still tell whether anything is reused.",
)

VERDICTS = (
    PROVED,
    COUNTED,
    COUNTED_NOT_FELT,
    UNSTEADY,
    TIMED,
    CONTRADICTED,
    NO_REUSE,
    NOT_FELT,
    FALSE_COUNTERS,
    BROKEN_BY_CLOCK,
    UNDECIDED,
    CAPACITY_FOUND,
    AT_LEAST,
    UNCOUNTED,
)

TABLE: Mapping[tuple[Counters, Timing], Verdict] = {
    ("reuse", "faster"): PROVED,
    ("reuse", "unclear"): COUNTED,
    ("reuse", "same"): COUNTED_NOT_FELT,
    ("sometimes", "faster"): UNSTEADY,
    ("sometimes", "unclear"): UNSTEADY,
    ("sometimes", "same"): UNSTEADY,
    ("none", "faster"): CONTRADICTED,
    ("none", "unclear"): NO_REUSE,
    ("none", "same"): NO_REUSE,
    ("silent", "faster"): TIMED,
    ("silent", "unclear"): UNDECIDED,
    ("silent", "same"): NOT_FELT,
    ("false", "faster"): FALSE_COUNTERS,
    ("false", "unclear"): FALSE_COUNTERS,
    ("false", "same"): FALSE_COUNTERS,
}


def judge(repeated: Signs, clock_last: Signs | None, *, own_clock: bool) -> Verdict:
    """The verdict on a prompt. `own_clock`: it has one, which `clock_last` has moved.

    Counters are contradicted only by times that agree in both layouts: one of them alone is below
    an unseen prefix's by chance in one of a hundred runs of an endpoint without a cache.
    """
    told = "false" not in (repeated.counters, clock_last and clock_last.counters)
    if own_clock and told and clock_last and clock_last.reuses and repeated.reuses is False:
        return BROKEN_BY_CLOCK
    found = TABLE[repeated.counters, repeated.timing]
    if found is CONTRADICTED and (clock_last is None or clock_last.timing != "faster"):
        return NO_REUSE
    return found
