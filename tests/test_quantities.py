import pytest

from headstart.quantities import (
    parse_bytes,
    parse_rate,
    parse_seconds,
    parse_share_or_bytes,
    parse_tokens,
)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("80GB", 80 * 10**9),
        ("80 GiB", 80 * 2**30),
        ("24g", 24 * 10**9),
        ("1.5TB", 1_500_000_000_000),
        ("3.35TB/s", 3_350_000_000_000),
        ("512MiB", 512 * 2**20),
        ("1e9", 10**9),
        ("1_000", 1000),
    ],
)
def test_gb_is_decimal_and_gib_binary(text: str, size: int) -> None:
    assert parse_bytes(text, "x") == size


@pytest.mark.parametrize(
    ("text", "rate"),
    [("400e12", 4e14), ("400T", 4e14), ("989TFLOPS", 9.89e14), ("1 PFLOPS", 1e15), ("5", 5.0)],
)
def test_rates(text: str, rate: float) -> None:
    assert parse_rate(text, "x") == rate


def test_a_reserve_is_a_share_or_a_size() -> None:
    assert parse_share_or_bytes("10%", 80, "x") == 8
    assert parse_share_or_bytes("0", 80, "x") == 0
    assert parse_share_or_bytes("2GB", 80 * 10**9, "x") == 2 * 10**9
    with pytest.raises(ValueError, match="leaves nothing"):
        parse_share_or_bytes("100%", 80, "x")


def test_durations() -> None:
    assert [parse_seconds(text, "x") for text in ("300", "5m", "12h", "90s", "250ms")] == [
        300, 300, 43_200, 90, 0.25,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("4000", 4000), ("4k", 4000), ("1e6", 10**6), ("1.5M", 1_500_000), ("1_000_000", 10**6)],
)
def test_tokens_are_whole_numbers_in_any_spelling(text: str, tokens: int) -> None:
    assert parse_tokens(text, "x") == tokens


@pytest.mark.parametrize("text", ["1.5", "0", "-4", "4GB", "4Ki", "1e13", "5%"])
def test_parts_of_tokens_and_sizes_of_other_things_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^x '"):
        parse_tokens(text, "x")


def test_a_least_number_of_tokens_may_be_asked_for() -> None:
    assert parse_tokens("0", "x", least=0) == 0
    with pytest.raises(ValueError, match="of 16 or more"):
        parse_tokens("15", "x", least=16)


@pytest.mark.parametrize("text", ["5 years", "1e300", "5%"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no duration"):
        parse_seconds(text, "x")


@pytest.mark.parametrize(
    "text",
    ["", "1.2.3", "GB", "-1GB", "0GB", "nan", "inf", "1e999", "1e300T", "1e-300", "1 elephant"],
)
def test_other_things_are_refused_in_one_line(text: str) -> None:
    for parse in (parse_bytes, parse_rate, parse_tokens):
        with pytest.raises(ValueError, match=r"^x ") as caught:
            parse(text, "x")
        assert "\n" not in str(caught.value)
