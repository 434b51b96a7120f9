import pytest

from headstart.insight.bench.flops import flop_ratio, shape_of, token_ratio

# From the floors measured apart for this model: 0.2123 GFLOP a token in the linear layers, 69,120
# FLOP a (query, key) pair, and their table of ratios, rounded to one digit.
RATIOS = [
    (1000, 50, 21.0, 18.4),
    (1000, 200, 6.0, 5.3),
    (2000, 50, 41.0, 32.9),
    (2000, 200, 11.0, 8.9),
    (4000, 50, 81.0, 58.0),
    (4000, 200, 21.0, 15.1),
    (7000, 50, 141.0, 92.0),
    (7000, 200, 36.0, 23.6),
]


@pytest.mark.parametrize(("shared", "new", "tokens", "flops"), RATIOS)
def test_ideal_ratios_are_those_of_the_reference_table(
    shared: int, new: int, tokens: float, flops: float
) -> None:
    shape = shape_of("/models/SmolLM2-135M-Instruct-bf16")
    assert shape is not None
    assert token_ratio(shared, new) == tokens
    # The table rounds, and counts a triangle of pairs as half a square or with its diagonal.
    assert flop_ratio(shape, shared, new) == pytest.approx(flops, rel=0.01)


def test_the_shape_costs_what_the_model_card_implies() -> None:
    shape = shape_of("smollm2-135m-instruct")
    assert shape is not None
    assert shape.attention(999, 1000) == 69_120 * 1000
    assert 2 * shape.matrix / 1e9 == pytest.approx(0.2123, abs=5e-5)


def test_an_unknown_model_has_no_made_up_ratio() -> None:
    assert shape_of("some-other-model") is None
