"""Dollars as decimals, as integers and as text. None of it passes a float."""

from decimal import ROUND_HALF_EVEN, Decimal

PICO = 10**12
"""Per dollar. A price of $0.000001 for a million tokens still is one for each token."""


def pico(dollars: Decimal) -> int:
    """Money as an integer; what is smaller than a pico-dollar is rounded, half to even."""
    return int((dollars * PICO).to_integral_value(ROUND_HALF_EVEN))


def dollars(pico: int) -> Decimal:
    """The exact inverse."""
    return Decimal(pico) / PICO


def text(dollars: Decimal) -> str:
    """Every digit, without an exponent and without zeros at its end."""
    digits = f"{dollars:f}"
    return digits.rstrip("0").rstrip(".") if "." in digits else digits
