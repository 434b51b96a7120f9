"""What the machine must know of a language's own and foreign names."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from headstart.insight.findings.finding import Evidence
from headstart.insight.lint_code.taint import Cause

CLOCK = Cause("HSC101", "The clock")
DAY = Cause("HSC101", "Today's date", daily=True)
ID = Cause("HSC102", "A new id")
CHANCE = Cause("HSC103", "A random value")
SHUFFLED = Cause("HSC103", "A random order", order=True)
DRAWN = Cause("HSC103", "A random draw", order=True)
MACHINE = Cause("HSC104", "A value of this machine or process")
COUNTER = Cause("HSC105", "A counter that goes on between calls")
REQUEST = Cause("HSC106", "A request's id", evidence=Evidence.SUSPECTED)
LISTING = Cause("HSC111", "The order of a directory's listing", order=True)
BAG = Cause("HSC112", "The order of a set", order=True)
KEYS = Cause("HSC113", "The order of a dict's keys", order=True)
ROWS = Cause("HSC114", "The order of rows", order=True, evidence=Evidence.SUSPECTED)
FINISHED = Cause("HSC115", "The order in which tasks end", order=True)


def words(text: str) -> frozenset[str]:
    """The words of a text, for tables that would be long as lists."""
    return frozenset(text.split())


@dataclass(frozen=True, slots=True)
class Language:
    """Tables of one language. Names are qualified: `datetime.datetime.now`."""

    calls: Mapping[str, Cause]
    """What a call of this name gives."""
    bare: Mapping[str, Cause]
    """The same, but only without arguments: with some the result is theirs."""
    methods: Mapping[str, Cause]
    """By the last name alone, on things that are not known."""
    attributes: Mapping[str, Cause]
    """What reading this name gives."""
    keeps: frozenset[str]
    """Functions whose result differs when an argument does, beyond those that say so by name."""
    sorts: frozenset[str]
    """Functions and methods that take the order away."""
    counts: frozenset[str]
    """Functions of whose arguments next to nothing is left."""
    shuffles: Mapping[str, Cause]
    """Functions that change the order of their first argument."""
    seeded: frozenset[str]
    """Generators that give the same each time where they are given a seed."""
    seeders: frozenset[str]
    """Functions that do so for their whole module."""
    sets: frozenset[str]
    """Functions that make a set of their argument."""
    ordered_sets: bool = False
    """Sets keep the order of insertion."""
    prints_addresses: bool = False
    """An object without a text of its own prints where it lies."""
    explicit_self: bool = False
    """A method's first parameter is its object."""
    parameters: Mapping[str, Cause] = field(default_factory=dict)
    """What a parameter of this name is, where nobody in the tree calls the function."""


WORDS = words(
    """format formatted str string text join dump dumps serialize stringify encode render build make
    compose prompt iso isoformat dedent indent concat json template message messages fill substitute
    replace interpolate to humanize"""
)
"""Words in names of functions that make text of what they are given."""

REQUEST_NAMES = words(
    """request_id requestid aws_request_id awsrequestid req_id reqid trace_id traceid span_id
    spanid correlation_id correlationid x_request_id invocation_id"""
)
"""Attributes and parameters in small letters."""

REQUEST_HEADERS = re.compile(
    r"(x-)?(request|trace|correlation|amzn-trace|b3-traceid|cloud-trace)[-_]?(id|context)?|traceparent"
    r"|cf-ray",
    re.IGNORECASE,
)
"""Headers that name one request."""
