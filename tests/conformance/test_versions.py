"""The range of SDK versions that docs/dialects.md states."""

from importlib.metadata import version

import pytest
from tests.conformance.versions import HERE, TESTS, supported


def numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def test_every_vendors_sdk_has_a_stated_range() -> None:
    assert supported().keys() == TESTS.keys() == {"openai", "anthropic", "google-genai"}


@pytest.mark.parametrize("name", TESTS)
def test_the_sdk_that_these_tests_run_with_is_a_supported_version(name: str) -> None:
    oldest, newest = supported()[name]
    assert numbers(oldest) <= numbers(version(name)) <= numbers(newest)


WITHOUT_SDK = {"test_versions.py", "test_report_totals.py", "test_crossed.py"}


def test_every_file_of_checks_speaks_through_some_sdk() -> None:
    named = {file.name for patterns in TESTS.values() for p in patterns for file in HERE.glob(p)}
    assert named == {file.name for file in HERE.glob("test_*.py")} - WITHOUT_SDK
