from array import array
from collections.abc import Sequence

import pytest
from tests.cache.build import namespace

from headstart.cache import Chain, PrefixCache
from headstart.engine.shared import EVERYBODY, SharedPrefixes

SYSTEM = list(range(10, 20))
"""Two blocks of 4, and two tokens more."""
WHOLE = SYSTEM[:8]


def shared_of(chain: Chain) -> list[int] | None:
    return None if chain.shared is None else list(array("I", bytes(chain.shared.data)))


@pytest.fixture
def prefixes() -> SharedPrefixes:
    return SharedPrefixes(PrefixCache(8, 4), [SYSTEM, [*SYSTEM, 1, 2], [7, 7, 7]])


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        (SYSTEM, WHOLE),
        (WHOLE, WHOLE),
        ([*WHOLE, 99], WHOLE),
        ([*SYSTEM, 1, 2, 3], [*SYSTEM, 1, 2]),
        (array("I", [*SYSTEM, 1, 2, 3]), [*SYSTEM, 1, 2]),
        (WHOLE[:7], None),
        ([*WHOLE[:7], 99, 98], None),
        ([99, *SYSTEM], None),
        ([7, 7, 7, 7, 7], None),
        ([], None),
    ],
)
def test_a_prompt_shares_the_longest_declared_prefix_in_whole_blocks(
    prefixes: SharedPrefixes, prompt: Sequence[int], expected: list[int] | None
) -> None:
    assert shared_of(prefixes.chain(namespace(), prompt)) == expected


def test_a_salt_shares_nothing(prefixes: SharedPrefixes) -> None:
    assert prefixes.chain(namespace(salt=""), SYSTEM).shared is None


def test_a_prefix_is_shared_by_tenants_of_one_adapter(prefixes: SharedPrefixes) -> None:
    one, other, adapted = (
        prefixes.chain(namespace(**fields), SYSTEM)
        for fields in ({}, {"tenant": "globex"}, {"adapter": b"lora"})
    )
    assert one.shared is other.shared is not None
    assert adapted.shared is not None
    assert adapted.shared.root != one.shared.root
    assert one.shared.namespace == namespace(tenant=EVERYBODY)


def test_no_line_of_a_keys_file_can_name_the_tenant_that_all_share() -> None:
    assert len(EVERYBODY.split()) > 1
