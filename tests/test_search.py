"""The gate's examples are a property's own."""

import json
import subprocess
import sys
from importlib import util
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import search

REPOSITORY = Path(__file__).parents[1]


def tried() -> list[object]:
    """All that one property is tried with, in order."""
    seen: list[object] = []

    @settings(max_examples=200)
    @given(st.integers(), st.text())
    def takes_anything(number: int, text: str) -> None:
        seen.append((number, text))

    takes_anything()
    return seen


@pytest.mark.skipif(not search.is_gate(), reason="a search has new examples each time")
def test_a_property_has_the_same_examples_each_time_whatever_else_is_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = tried()
    (path := tmp_path / "words.py").write_text(f"ALL = {[*range(70_000, 71_000), 'new', 'words']}")
    spec = util.spec_from_file_location("words_of_this_test", path)
    assert spec is not None
    assert spec.loader is not None
    monkeypatch.setitem(sys.modules, spec.name, module := util.module_from_spec(spec))
    spec.loader.exec_module(module)
    assert tried() == before
    assert len(before) >= 200


def profiles(environment: dict[str, str]) -> Any:
    """Both profiles, as a new process with this environment makes them."""
    script = (
        "import json; from hypothesis import settings; from tests import search; search.register();"
        "both = [settings.get_profile(name) for name in (search.GATE, search.SEARCH)];"
        "print(json.dumps([[one.max_examples, one.derandomize] for one in both]))"
    )
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=REPOSITORY, env=environment, capture_output=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize("ci", [{}, {"CI": "true"}], ids=["at home", "in CI"])
def test_a_search_tries_ten_times_as_many_new_ones_wherever_it_runs(ci: dict[str, str]) -> None:
    assert profiles(ci) == [[100, True], [1000, False]]
    assert search.examples(7) == (7 if search.is_gate() else 70)
