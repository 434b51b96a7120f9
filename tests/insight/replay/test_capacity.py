import pytest

from headstart.insight.replay.capacity import parse_capacity
from headstart.insight.replay.lines import TraceError


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("5%", 3),
        ("640", 40),
        ("2k", 125),
        ("1.5M", 93750),
        ("1MiB", 64),
        ("1e6", 62500),
        ("1 MiB", 64),
        ("2m", 125_000),
    ],
)
def test_sizes_become_whole_blocks(text: str, blocks: int) -> None:
    assert parse_capacity(text, token_bytes=1024).blocks(16, footprint_tokens=1000) == blocks


@pytest.mark.parametrize(
    "text", ["", "0", "5 %%", "-3", "1GiB", "a lot", "nan", "0%", "1.5", "2Mi", "5x%"]
)
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(TraceError):
        parse_capacity(text, token_bytes=None)


def test_a_share_needs_a_footprint() -> None:
    with pytest.raises(TraceError, match="optimum"):
        parse_capacity("5%", None).blocks(16, None)
