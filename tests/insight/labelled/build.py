"""The whole set. Another seed gives other words, models and values under the same names.

What is planted is a function from healthy drafts to changed ones; to let the set grow, add one to
the `plant_*` module of its family and name it in that module's generator. `test_set.py` then checks
its label: where the requests part, and what the vendor's rules make of it and of its twin.
"""

from collections.abc import Iterator

from tests.insight.labelled import logs as forty
from tests.insight.labelled.case import Case, Log
from tests.insight.labelled.healthy import healthy_cases
from tests.insight.labelled.healthy_vendors import vendor_cases
from tests.insight.labelled.plant_marks import mark_cases
from tests.insight.labelled.plant_marks_anthropic import anthropic_mark_cases
from tests.insight.labelled.plant_marks_openai import openai_mark_cases
from tests.insight.labelled.plant_settings import setting_cases
from tests.insight.labelled.plant_talk import talk_cases
from tests.insight.labelled.plant_texts import text_cases
from tests.insight.labelled.plant_tools import tool_cases
from tests.insight.labelled.plant_values import value_cases


def cases(seed: int = 0) -> Iterator[Case]:
    """Cases of one to five requests: defects first, then what is healthy."""
    yield from value_cases(seed)
    yield from text_cases(seed)
    yield from tool_cases(seed)
    yield from talk_cases(seed)
    yield from setting_cases(seed)
    yield from mark_cases(seed)
    yield from anthropic_mark_cases(seed)
    yield from openai_mark_cases(seed)
    yield from healthy_cases(seed)
    yield from vendor_cases(seed)


def logs(seed: int = 0) -> Iterator[Log]:
    """Logs of forty requests, healthy and not."""
    yield from forty.logs(seed)
