from typing import Any

import pytest

from headstart.contracts.entries import Entries

A, B, C = b"a", b"b", b"c"


def put(entries: Entries, key: bytes, now: float, seconds: float = 10.0, **changes: Any) -> None:
    fields = {"tenant": "acme", "lifetime": f"{seconds}", "seconds": seconds, "now": now}
    entries.put(key=key, **{**fields, **changes})


def test_an_entry_is_found_by_its_tenant_until_it_expires() -> None:
    entries = Entries()
    put(entries, A, now=5.0)
    assert entries.find("acme", A, 14.9) is not None
    assert entries.find("acme", A, 15.0) is None
    assert entries.find("globex", A, 5.0) is None
    assert entries.find("acme", B, 5.0) is None


def test_use_begins_its_time_anew() -> None:
    entries = Entries()
    put(entries, A, now=0.0)
    put(entries, A, now=9.0)
    assert entries.find("acme", A, 18.9) is not None


def test_a_request_that_began_earlier_does_not_shorten_it() -> None:
    entries = Entries()
    put(entries, A, now=9.0)
    put(entries, A, now=1.0)
    assert entries.find("acme", A, 18.9) is not None


@pytest.mark.parametrize(("first", "then"), [(10.0, 60.0), (60.0, 10.0)])
def test_what_lives_keeps_the_lifetime_it_was_written_with(first: float, then: float) -> None:
    entries = Entries()
    put(entries, A, now=0.0, seconds=first)
    put(entries, A, now=5.0, seconds=then)
    entry = entries.find("acme", A, 5.0)
    assert entry is not None
    assert (entry.lifetime, entry.expires) == (f"{first}", 5.0 + first)


def test_what_is_dead_is_written_anew() -> None:
    entries = Entries()
    put(entries, A, now=0.0, seconds=10.0)
    put(entries, A, now=10.0, seconds=60.0)
    entry = entries.find("acme", A, 10.0)
    assert entry is not None
    assert (entry.seconds, entry.expires) == (60.0, 70.0)


def test_beyond_its_number_the_ones_used_longest_ago_are_forgotten() -> None:
    entries = Entries(most=2)
    put(entries, A, now=0.0)
    put(entries, B, now=0.0)
    put(entries, A, now=1.0)
    put(entries, C, now=1.0)
    assert [entries.find("acme", key, 2.0) is not None for key in (A, B, C)] == [True, False, True]


def test_one_tenants_number_is_not_anothers() -> None:
    entries = Entries(most=1)
    put(entries, A, now=0.0)
    put(entries, B, now=0.0, tenant="globex")
    assert entries.find("acme", A, 1.0) is not None
    assert (entries.count("acme"), entries.count("globex"), entries.count("nobody")) == (1, 1, 0)


def test_of_many_the_last_named_is_forgotten_last() -> None:
    entries = Entries(most=2)
    entries.put_all("acme", [C, B, A], lifetime="", seconds=10.0, now=0.0)
    assert [entries.find("acme", key, 1.0) is not None for key in (A, B, C)] == [True, True, False]


@pytest.mark.parametrize(("first", "then"), [(10.0, 60.0), (60.0, 10.0)])
def test_of_two_lifetimes_that_cost_nothing_the_later_end_counts(first: float, then: float) -> None:
    entries = Entries()
    for seconds in (first, then):
        entries.put_all("acme", [A], lifetime="", seconds=seconds, now=0.0)
    assert entries.find("acme", A, 59.9) is not None
    assert entries.find("acme", A, 60.0) is None


def test_nothing_is_left_after_clear() -> None:
    entries = Entries()
    put(entries, A, now=0.0)
    entries.clear()
    assert entries.find("acme", A, 1.0) is None
