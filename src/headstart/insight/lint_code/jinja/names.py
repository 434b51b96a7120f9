"""Names that templates have for what differs from one rendering to the next."""

from collections.abc import Mapping

from headstart.insight.findings.finding import Evidence
from headstart.insight.lint_code.language import (
    CHANCE,
    CLOCK,
    COUNTER,
    ID,
    KEYS,
    REQUEST,
    words,
)
from headstart.insight.lint_code.taint import Cause


def _suspected(cause: Cause, what: str) -> Cause:
    return cause._replace(what=what, evidence=Evidence.SUSPECTED)


_CLOCK = _suspected(CLOCK, "What is named as a clock")

NAMES: Mapping[str, Cause] = {
    **dict.fromkeys(
        words(
            """now today timestamp datetime date date_string current_time current_date
            current_datetime current_day current_timestamp today_date todays_date utcnow utc_now
            time_now local_time"""
        ),
        _CLOCK,
    ),
    **dict.fromkeys(
        words("uuid nonce random_id unique_id cache_buster"),
        _suspected(ID, "What is named as new for each request"),
    ),
    **dict.fromkeys(words("request_id req_id trace_id correlation_id span_id"), REQUEST),
    **dict.fromkeys(
        words("counter call_count call_number request_count request_number sequence_number"),
        _suspected(COUNTER, "What is named as a counter"),
    ),
    **dict.fromkeys(words("random random_number seed"), _suspected(CHANCE, "What is random")),
}
"""Variables of the template itself; fields of other things are theirs."""

CALLS: Mapping[str, Cause] = {
    **dict.fromkeys(
        words(
            """now utcnow today strftime_now current_time current_date get_date get_time
            datetime.now datetime.utcnow datetime.today datetime.datetime.now date.today time.time
            time.strftime timezone.now"""
        ),
        CLOCK,
    ),
    **dict.fromkeys(
        words("uuid uuid4 uuid1 uuid.uuid4 uuid.uuid1 uuid7 nonce generate_id secrets.token_hex"),
        ID,
    ),
    **dict.fromkeys(
        words("random randint random.random random.randint random.choice choice lipsum"), CHANCE
    ),
}
FILTERS: Mapping[str, Cause] = {"random": CHANCE, "shuffle": CHANCE._replace(order=True)}
SORTING = words("sort dictsort sorted")
DICT_VIEWS = words("items keys values")
DICT_ORDER = KEYS._replace(evidence=Evidence.SUSPECTED)
STABLE = words(
    """messages history chat_history conversation conversation_history tools functions documents
    examples few_shots instructions system system_prompt rules context"""
)
"""Variables that hold what is mostly the same, or grows at its end only."""
