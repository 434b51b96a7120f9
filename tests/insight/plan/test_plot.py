import math
import sys
import xml.etree.ElementTree as ElementTree
from operator import mul
from pathlib import Path

import pytest
from tests.insight.plan.asking import ask
from tests.insight.plan.test_trace import write_mooncake

from headstart.insight.plan.errors import PlanError
from headstart.insight.plan.plot import BLUE, GREEN, GREY, ORANGE, draw

pytestmark = pytest.mark.slow  # The import of matplotlib, and fonts.

SVG = "{http://www.w3.org/2000/svg}"


def texts(path: Path) -> list[str]:
    return ["".join(each.itertext()) for each in ElementTree.parse(path).iter(f"{SVG}text")]


def test_an_svg_has_the_four_curves_as_text_and_is_the_same_each_time(tmp_path: Path) -> None:
    one, other = tmp_path / "one.svg", tmp_path / "other.svg"
    for path in (one, other):
        draw(ask(), path)
    assert one.read_bytes() == other.read_bytes()
    told = texts(one)
    for words in (
        "llama-3-8b: 4,000 tokens that come again, 200 that are new",
        "Prefill by what is reused",
        "Time to first token",
        "Prefixes that fit in the KV pool",
        "Money: a write pays after 0.28 reads",
        "break-even: 1.28 uses",
        "this plan: 19.6× less",
        "38 ms",
        "this plan: 106",
    ):
        assert words in told
    assert one.stat().st_size < 100_000


def test_with_a_trace_the_third_curve_is_its_hit_rate(tmp_path: Path) -> None:
    trace = write_mooncake(tmp_path / "chat.jsonl.gz", [[1, 2], [1, 2, 3], [4], [1, 2, 3, 5]])
    draw(ask(trace=trace), tmp_path / "plan.svg")
    told = texts(tmp_path / "plan.svg")
    assert "Hit rate on chat" in told
    assert {"lru", "worth", "optimum (knows the future)", "without a limit"} <= set(told)


@pytest.mark.parametrize(
    ("given", "title"),
    [
        ({"read": 1.0}, "Money: a write never pays"),
        ({"gap": "10m"}, "Money: each use finds it expired"),
        ({"price": "anthropic/claude-opus-4-5"}, "Money: too short to be cached"),
    ],
    ids=str,
)
def test_where_nothing_breaks_even_no_point_says_so(
    tmp_path: Path, given: dict[str, object], title: str
) -> None:
    draw(ask(**given), tmp_path / "plan.svg")
    told = texts(tmp_path / "plan.svg")
    assert title in told
    assert not any(words.startswith("break-even") for words in told)


def test_a_late_break_even_is_in_the_picture_too(tmp_path: Path) -> None:
    draw(ask(write=3.0, read=0.9), tmp_path / "plan.svg")
    told = texts(tmp_path / "plan.svg")
    assert "break-even: 21.00 uses" in told  # (w - 1) / (1 - r) = 2 / 0.1, after the first use.
    assert "40" in told


def test_a_png_is_a_png(tmp_path: Path) -> None:
    draw(ask(), tmp_path / "plan.png")
    assert (tmp_path / "plan.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "given",
    [
        {"model": "llama-3-70b"},
        {"model": "qwen3.5-397b-a17b", "tensor_parallel": 16},
        {"prefix": 1, "question": 0},
        {"prefix": 15},
        {"question": 0},
        {"read": 1.0},
        {"overhead_ms": 0},
    ],
    ids=str,
)
def test_odd_plans_can_be_drawn_too(tmp_path: Path, given: dict[str, object]) -> None:
    draw(ask(**given), tmp_path / "plan.svg")
    assert texts(tmp_path / "plan.svg")


BLINDNESS = {
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216),
               (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413),
               (-0.011820, 0.042940, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602),
               (0.004733, 0.691367, 0.303900)),
}  # fmt: skip
"""What each sees of linear RGB: Machado, Oliveira and Fernandes 2009, severity 1."""


@pytest.mark.parametrize("blindness", BLINDNESS)
def test_colours_of_one_panel_are_told_apart_by_the_colour_blind(blindness: str) -> None:
    def seen(colour: str) -> list[float]:
        linear = [(int(colour[at : at + 2], 16) / 255) ** 2.2 for at in (1, 3, 5)]
        return [sum(map(mul, row, linear)) for row in BLINDNESS[blindness]]

    panels = [(BLUE, ORANGE), (BLUE, GREY), (BLUE, GREEN), (GREEN, GREY), (ORANGE, GREEN)]
    distances = [math.dist(seen(one), seen(other)) for one, other in panels]
    assert min(distances) > 0.1  # The usual red and green are 0.07 apart for deutans.


def test_other_endings_and_places_are_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=r"a plot ends in \.svg or \.png"):
        draw(ask(), tmp_path / "plan.pdf")
    with pytest.raises(PlanError, match="can't be written: No such file"):
        draw(ask(), tmp_path / "absent" / "plan.svg")


def test_without_matplotlib_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(PlanError, match=r"pip install 'headstart\[plots\]'"):
        draw(ask(), tmp_path / "plan.svg")
