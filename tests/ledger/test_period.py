from datetime import UTC, datetime

import pytest

from headstart.ledger import since

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("24h", "2026-11-29T12:00+00:00"),
        ("7d", "2026-11-23T12:00+00:00"),
        ("90m", "2026-11-30T10:30+00:00"),
        ("1.5h", "2026-11-30T10:30+00:00"),
        ("2w", "2026-11-16T12:00+00:00"),
        ("2026-11-01", "2026-11-01T00:00+00:00"),
        ("2026-11-01T08:00", "2026-11-01T08:00+00:00"),
        ("2026-11-01T08:00+08:00", "2026-11-01T00:00+00:00"),
        ("2026-11-01T08:00:30Z", "2026-11-01T08:00:30+00:00"),
    ],
)
def test_a_time_is_so_long_ago_or_a_moment_in_utc(text: str, moment: str) -> None:
    assert since(text, NOW) == datetime.fromisoformat(moment).timestamp()


@pytest.mark.parametrize("text", ["", "yesterday", "5", "h", "-1h", "2026-13-01"])
def test_anything_else_is_an_error_that_names_it(text: str) -> None:
    with pytest.raises(ValueError, match="is no time"):
        since(text, NOW)
