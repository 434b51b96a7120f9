"""Sentences that mean little and are as long as real ones, the same for the same seed."""

import random

VERBS = ("Check", "Quote", "Explain", "Name", "Compare", "Confirm", "Record", "Summarise")
THINGS = (
    "the order",
    "the invoice",
    "the delivery date",
    "the refund",
    "the warranty",
    "the contract",
    "the return label",
    "the customer's plan",
    "the open ticket",
    "the serial number",
)
ENDS = (
    "before anything is promised",
    "in the customer's own language",
    "with the amount and its currency",
    "and say where it is written",
    "unless the customer asks otherwise",
    "in one short paragraph",
    "without naming other customers",
    "and offer the next step",
)
ASKED = ("Where is", "Can you explain", "Who changed", "Why is there a fee on", "How do I cancel")


def rules(rng: random.Random, count: int) -> str:
    """Numbered lines of about 14 tokens."""
    return "\n".join(f"{number}. {_rule(rng)}" for number in range(1, count + 1))


def passage(rng: random.Random, count: int) -> str:
    """A paragraph of so many sentences."""
    return " ".join(_rule(rng) for _ in range(count))


def question(rng: random.Random) -> str:
    """What a customer asks."""
    return f"{rng.choice(ASKED)} {rng.choice(THINGS)}, number {rng.randint(1000, 9999)}?"


def _rule(rng: random.Random) -> str:
    return f"{rng.choice(VERBS)} {rng.choice(THINGS)} {rng.choice(ENDS)}."
