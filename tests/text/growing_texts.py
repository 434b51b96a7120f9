"""Hypothesis strategies: texts that grow, branch and are edited, made of nasty pieces."""

from dataclasses import dataclass

from hypothesis import strategies as st
from tests.text.tokenizer_zoo import SPECIAL

PIECES = [
    *SPECIAL,
    *SPECIAL,
    *("<s", "s>", "<", "<|", "|>", "im_end|>", "<|im_st", "art|>", "<|im_end|>\n", "</s><s>"),
    *("aba", "b", "a", "e", "x", "y", " y", "the", " the", "The", "\nThe", "e\nThe", "xyz", "K"),
    *(" ", "  ", "   ", "\n", "\n\n", "\r\n", "\t", "\u00a0", "\u2028", "\u3000", "\x00", "\x04"),
    *(
        "\u0301",
        "e\u0301",
        "é",
        "が",
        "か\u3099",
        "한",
        "\u1112\u1161\u11ab",
        "ﬁ",
        "東京",
        "\U000e0001",
    ),
    *(
        "👩‍👩‍👧",
        "👩",
        "\u200d",
        "1",
        "23",
        "4567",
        "'s",
        "'",
        "'ll",
        " it's",
        ".",
        ", ",
        "!!",
        "/",
        "_",
    ),
    *("▁", "▁▁", "Ġ", "Ċ", "<0x0A>", "<tool>x", "<tool>", "quick brown fox jumps", "\nagain and"),
    " over the lazy dog" + 40 * " ",
]
nasty_text = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)


@dataclass(frozen=True)
class Step:
    """Takes an earlier text, cuts something out of it and puts something in."""

    source: int
    keep: int
    """Characters kept in front, counted from the end."""
    drop: int
    """Characters dropped behind them; more than there are drops all."""
    insert: str

    def __call__(self, texts: list[str]) -> str:
        text = texts[self.source % len(texts)]
        cut = max(len(text) - self.keep, 0)
        return text[:cut] + self.insert + text[cut + self.drop :]


steps = st.lists(
    st.builds(
        Step,
        source=st.integers(0, 9),
        keep=st.sampled_from([0, 0, 0, 1, 2, 5, 20, 90]),
        drop=st.sampled_from([0, 1, 3, 1000, 1000]),
        insert=nasty_text,
    ),
    min_size=1,
    max_size=8,
)


def play(start: str, changes: list[Step]) -> list[str]:
    """All texts, in order."""
    texts = [start]
    for change in changes:
        texts.append(change(texts))
    return texts
