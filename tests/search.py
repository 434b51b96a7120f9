"""Which examples property tests try.

The gate, `make test`, says the same of the same tree: each property has examples of its own, chosen
by its source alone. Bugs that only chance finds are for a search, with new examples each time and
ten times as many: `make search`, or pytest with `--hypothesis-profile search`.
"""

from hypothesis import HealthCheck, settings

TIMES = 10
GATE, SEARCH = "gate", "search"


def register() -> None:
    """Make both known to hypothesis, and the gate the one that holds if none is asked for."""
    # From hypothesis's own default: on a machine that says it is CI, another profile is in force.
    # How long an example takes says how busy the machine is.
    both = settings(
        settings.get_profile("default"),
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    # Prints how to repeat what failed on another machine.
    settings.register_profile(GATE, both, derandomize=True, database=None, print_blob=True)
    settings.register_profile(SEARCH, both, max_examples=TIMES * both.max_examples)
    settings.load_profile(GATE)


def is_gate() -> bool:
    """Whether this run is to say the same of the same tree."""
    return settings.get_current_profile_name() == GATE


def examples(gate: int) -> int:
    """As many as the gate tries of a property that needs more or fewer than others; or a search."""
    return gate if is_gate() else gate * TIMES
