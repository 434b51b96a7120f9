"""Each rule by its number in docs/contracts.md; the texts were seen by live probes."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headstart.contracts.cached_contents import CachedContent, CachedContents, Storage
from headstart.contracts.contract import Refusal

HOUR = 3600.0
Contents = CachedContents[str]


def create(
    contents: Contents, name: str = "cachedContents/a", **changes: Any
) -> CachedContent[str]:
    fields = {"owner": "me", "model": "models/m", "tokens": 5000, "minimum": 1024, "now": 0.0}
    content = contents.create(name, "body", **{**fields, **changes})
    contents.ready(name)
    return content


def refusal(call: Callable[[], object]) -> tuple[int, str | None, str]:
    with pytest.raises(Refusal) as refused:
        call()
    return refused.value.status, refused.value.code, str(refused.value)


MISSING = (403, "PERMISSION_DENIED", "CachedContent not found (or permission denied)")


def test_g4_without_a_wish_it_lives_an_hour() -> None:
    content = create(Contents(), now=10.0)
    assert (content.created, content.updated, content.expires) == (10.0, 10.0, 10.0 + HOUR)
    assert (content.body, content.tokens, content.display_name) == ("body", 5000, "")


def test_g4_its_end_is_a_duration_or_a_time() -> None:
    assert create(Contents(), now=10.0, ttl=300.0).expires == 310.0
    assert create(Contents(), now=10.0, expires=500.0).expires == 500.0


@pytest.mark.parametrize("wish", [{"ttl": 0.0}, {"ttl": -1.0}, {"expires": 10.0}])
def test_an_end_that_is_not_ahead_is_refused(wish: dict[str, float]) -> None:
    assert refusal(lambda: create(Contents(), now=10.0, **wish))[:2] == (400, "INVALID_ARGUMENT")


def test_both_ends_at_once_are_refused() -> None:
    contents = Contents()
    refused = refusal(lambda: create(contents, ttl=300.0, expires=400.0))
    assert refused[0] == 400
    assert "oneof field 'expiration' is already set" in refused[2]
    create(contents)
    patched = refusal(
        lambda: contents.patch("cachedContents/a", owner="me", now=1.0, ttl=3.0, expires=9.0)
    )
    assert patched == refused


@pytest.mark.parametrize("minimum", [1024, 4096, 32_768])
def test_g5_less_than_the_minimum_is_refused_with_both_numbers(minimum: int) -> None:
    contents = Contents()
    refused = refusal(lambda: create(contents, tokens=minimum - 1, minimum=minimum))
    text = (
        f"Cached content is too small. total_token_count={minimum - 1}, "
        f"min_total_token_count={minimum}"
    )
    assert refused == (400, "INVALID_ARGUMENT", text)
    assert create(contents, tokens=minimum, minimum=minimum).tokens == minimum
    assert create(contents, "cachedContents/b", tokens=minimum + 1, minimum=minimum)


def test_a_name_that_is_taken_is_not_given_away() -> None:
    contents = Contents()
    create(contents)
    with pytest.raises(ValueError, match="exists"):
        create(contents, owner="you")


def test_g8_unknown_over_deleted_and_foreign_are_one_and_the_same() -> None:
    contents = Contents()
    create(contents, "cachedContents/over", ttl=5.0)
    create(contents, "cachedContents/deleted")
    create(contents, "cachedContents/foreign", owner="you")
    contents.delete("cachedContents/deleted", owner="me", now=1.0)
    for name in ("never", "over", "deleted", "foreign"):
        full = f"cachedContents/{name}"
        for call in (
            lambda full=full: contents.get(full, owner="me", now=5.0),
            lambda full=full: contents.patch(full, owner="me", now=5.0, ttl=9.0),
            lambda full=full: contents.delete(full, owner="me", now=5.0),
            lambda full=full: contents.use(full, owner="me", model="models/x", now=5.0),
        ):
            assert refusal(call) == MISSING


@pytest.mark.parametrize(("now", "there"), [(4.9, True), (5.0, False), (5.1, False)])
def test_g4_it_ends_on_time(now: float, there: bool) -> None:
    contents = Contents()
    create(contents, ttl=5.0)
    if there:
        assert contents.get("cachedContents/a", owner="me", now=now)
    else:
        refused = refusal(lambda: contents.get("cachedContents/a", owner="me", now=now))
        assert refused == MISSING


def test_g8_another_models_request_is_refused() -> None:
    contents = Contents()
    create(contents)
    refused = refusal(
        lambda: contents.use("cachedContents/a", owner="me", model="models/b", now=1.0)
    )
    text = (
        "Model used by GenerateContent request (models/b) and CachedContent (models/m) has to be "
        "the same."
    )
    assert refused == (400, "INVALID_ARGUMENT", text)


def test_g4_use_does_not_extend_it() -> None:
    contents = Contents()
    created = create(contents)
    for now in (1.0, HOUR - 1):
        assert contents.use("cachedContents/a", owner="me", model="models/m", now=now) == created
    with pytest.raises(Refusal):
        contents.use("cachedContents/a", owner="me", model="models/m", now=HOUR)


def test_g4_a_patch_moves_the_end_and_nothing_else() -> None:
    contents = Contents()
    created = create(contents, display_name="book")
    patched = contents.patch("cachedContents/a", owner="me", now=100.0, ttl=50.0)
    assert (patched.expires, patched.updated) == (150.0, 100.0)
    later = contents.patch("cachedContents/a", owner="me", now=120.0, expires=9_000.0)
    assert (later.expires, later.updated) == (9_000.0, 120.0)
    for name in ("name", "owner", "model", "tokens", "body", "created", "display_name"):
        assert getattr(later, name) == getattr(created, name)
    assert contents.get("cachedContents/a", owner="me", now=8_999.0) == later


def test_a_patch_of_nothing_changes_nothing() -> None:
    contents = Contents()
    created = create(contents)
    assert contents.patch("cachedContents/a", owner="me", now=100.0) == created


def test_a_list_has_pages_of_ones_own_living_contents() -> None:
    contents = Contents()
    for number in range(5):
        create(contents, f"cachedContents/{number}")
    create(contents, "cachedContents/foreign", owner="you")
    create(contents, "cachedContents/over", ttl=1.0)
    seen, token = [], None
    for size in (2, 2, 1):
        page, token = contents.listing(owner="me", now=2.0, page_size=2, page_token=token)
        assert len(page) == size
        seen += [content.name for content in page]
    assert (seen, token) == ([f"cachedContents/{number}" for number in range(5)], None)


def test_a_page_goes_on_where_the_last_one_ended_though_that_one_was_deleted() -> None:
    contents = Contents()
    for number in range(4):
        create(contents, f"cachedContents/{number}")
    _, token = contents.listing(owner="me", now=1.0, page_size=2)
    contents.delete("cachedContents/1", owner="me", now=1.0)
    page, _ = contents.listing(owner="me", now=1.0, page_size=2, page_token=token)
    assert [content.name for content in page] == ["cachedContents/2", "cachedContents/3"]


def test_nothing_is_an_empty_page() -> None:
    assert Contents().listing(owner="me", now=0.0) == ([], None)


@pytest.mark.parametrize(
    "wish", [{"page_size": -1}, {"page_token": "x"}, {"page_token": "9" * 5000}]
)
def test_a_page_that_cannot_be_is_refused(wish: dict[str, Any]) -> None:
    assert refusal(lambda: Contents().listing(owner="me", now=0.0, **wish))[0] == 400


def hours(storage: Iterable[Storage]) -> list[tuple[float, int, int]]:
    return [(held.since, held.token_seconds, held.added) for held in storage]


def test_g9_storage_is_told_once_for_the_time_it_is_held() -> None:
    contents = Contents()
    create(contents, tokens=2000, ttl=3 * HOUR)
    first = Storage("me", "cachedContents/a", "models/m", 0.0, 7_200_000, 7_200_000)
    assert list(contents.collect(HOUR)) == [first]
    assert list(contents.collect(HOUR)) == []
    assert hours(contents.collect(10 * HOUR)) == [
        (HOUR, 7_200_000, 7_200_000),
        (2 * HOUR, 7_200_000, 7_200_000),
    ]
    assert list(contents.collect(20 * HOUR)) == []


def test_g9_nothing_is_due_for_what_never_got_ready() -> None:
    contents = Contents()
    fields: dict[str, Any] = {"owner": "me", "model": "models/m", "tokens": 10, "minimum": 1}
    for name in ("failed", "slow", "late"):
        contents.create(name, "body", now=0.0, ttl=100.0, **fields)
    contents.delete("failed", owner="me", now=5.0)
    assert hours(contents.collect(10.0)) == []
    contents.ready("slow")
    assert hours(contents.collect(20.0)) == [(0.0, 200, 200)]
    assert hours(contents.collect(100.0)) == [(0.0, 1000, 800)]
    contents.ready("late")  # It is over, and forgotten.
    assert hours(contents.collect(200.0)) == []


def test_g9_what_is_left_off_is_told_the_next_time() -> None:
    """Others may change between two pieces what is being told."""
    contents = Contents()
    for name in "abcd":
        create(contents, name, tokens=1, minimum=1, ttl=10.0 if name == "d" else 100.0)
    contents.delete("a", owner="me", now=4.0)
    contents.delete("b", owner="me", now=5.0)
    told = [next(contents.collect(20.0))]
    begun = contents.collect(20.0)
    told += [next(begun), next(begun)]
    contents.delete("c", owner="me", now=21.0)
    told += begun
    told += contents.collect(30.0)
    sums = dict.fromkeys("abcd", 0)
    for held in told:
        sums[held.name] += held.added
    assert sums == {"a": 4, "b": 5, "c": 21, "d": 10}


def test_g9_an_hour_of_the_clock_is_told_whole_each_time_and_what_is_new_of_it() -> None:
    contents = Contents()
    create(contents, tokens=1000, minimum=1, now=3000.0, ttl=3 * HOUR)
    assert hours(contents.collect(3100.0)) == [(3000.0, 100_000, 100_000)]
    assert hours(contents.collect(3600.0)) == [(3000.0, 600_000, 500_000)]
    assert hours(contents.collect(3601.0)) == [(3600.0, 1000, 1000)]
    contents.delete("cachedContents/a", owner="me", now=3602.0)
    assert hours(contents.collect(9 * HOUR)) == [(3600.0, 2000, 1000)]


@given(
    begin=st.floats(0, 2e9),
    tokens=st.integers(1, 10**7),
    steps=st.lists(st.floats(0, 5000), min_size=1, max_size=20),
)
def test_g9_however_often_it_is_asked_the_sum_is_tokens_times_seconds(
    begin: float, tokens: int, steps: list[float]
) -> None:
    contents = Contents()
    create(contents, tokens=tokens, minimum=1, now=begin, ttl=1e6)
    told: dict[float, int] = {}
    added, now = 0, begin
    for step in steps:
        now += step
        for held in contents.collect(now):
            told[held.since] = held.token_seconds
            added += held.added
    assert sum(told.values()) == added
    # Each hour is rounded once, and floats near 2e9 are a quarter of a microsecond apart.
    tolerance = (len(told) + 1) * (1 + tokens * 1e-6)
    assert added == pytest.approx(tokens * (now - begin), abs=tolerance)


def test_g9_storage_ends_with_the_deletion_and_follows_a_moved_end() -> None:
    contents = Contents()
    create(contents, ttl=10 * HOUR)
    create(contents, "cachedContents/b", ttl=10 * HOUR)
    contents.delete("cachedContents/a", owner="me", now=2 * HOUR)
    contents.patch("cachedContents/b", owner="me", now=HOUR, ttl=HOUR)
    sums = dict.fromkeys(("cachedContents/a", "cachedContents/b"), 0)
    for held in contents.collect(9 * HOUR):
        sums[held.name] += held.token_seconds
    assert set(sums.values()) == {5000 * 2 * 3600}


def test_what_is_over_is_forgotten_and_its_name_free() -> None:
    contents = Contents()
    create(contents, ttl=1.0)
    assert len(list(contents.collect(1.0))) == 1
    assert create(contents, now=2.0)
