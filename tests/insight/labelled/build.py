"""The whole set. Another seed gives other words, models and values under the same names."""

from collections.abc import Iterator

from tests.insight.labelled import logs as forty
from tests.insight.labelled.case import Case, Log
from tests.insight.labelled.healthy import healthy_cases
from tests.insight.labelled.plant_marks import mark_cases
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
    yield from healthy_cases(seed)


def logs(seed: int = 0) -> Iterator[Log]:
    """Logs of forty requests, healthy and not."""
    yield from forty.logs(seed)
