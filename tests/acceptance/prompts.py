"""Fifty prompts of exact lengths that lie across every border the cache and the scheduler have."""

from pathlib import Path

from headstart.text.codec import Codec

BLOCK = 16
STEP = 96
"""Tokens a step may compute: long prompts are prefilled in chunks that end at its multiples."""

CONTEXT = 544
POOL_TOKENS = 2448
"""Room for five of the longest, and for less than half of all fifty."""

BORDERS = (*(k * BLOCK for k in range(1, 11)), 192, 256, 512)
"""Blocks, steps (96, 192) and deterministic chunks (256, 512)."""

ODD_LENGTHS = (15, 16, 17, 33, 64, 65, 96, 97)
"""Of the prompts that are no prose."""

UNUSUAL = """
def naïve_größe(größe: float) -> "str":\n\treturn f"{größe:.2f} m²"  # ½ · π ≈ 1.57
東京の天気は晴れです。🙂🙃 Ça va ? Привет, мир! שלום עולם — مرحبا بالعالم
for (int i = 0; i < n; ++i) { sum += a[i] * b[i]; }\r\n\r\n    SELECT * FROM t WHERE x <> '';
{"name": "get_weather", "arguments": {"city": "Zürich", "days": [1, 2, 3], "unit": null}}
e\u0301 vs é, \u200b zero width, \U0001f468\u200d\U0001f469\u200d\U0001f467 family, ﬁ ligature
0x7fffffff 3.14159e-10 1,234,567.89 ((((((((((((((((((((((((((((((((((((((((((((((((((((((((
"""


def lengths(max_tokens: int) -> list[int]:
    """Of the prose prompts, short to long; the last leaves just `max_tokens` of the context."""
    around = [border + step for border in BORDERS for step in (-1, 0, 1)]
    return [1, 2, *around, CONTEXT - max_tokens]


def prompts(codec: Codec, *, max_tokens: int) -> list[list[int]]:
    """Fifty prompts, no two of which begin with the same token, short to long."""
    licence = codec.encode((Path(__file__).parents[2] / "LICENSE").read_text())
    unusual = codec.encode(UNUSUAL)
    begun: set[int] = set()

    def cut_from(text: list[int], at: int, length: int) -> list[int]:
        while text[at] in begun:
            at += 1
        begun.add(text[at])
        return text[at : at + length]

    cut = [
        cut_from(unusual + unusual, 17 * number, length)
        for number, length in enumerate(ODD_LENGTHS)
    ]
    cut += [
        cut_from(licence, 31 * number, length) for number, length in enumerate(lengths(max_tokens))
    ]
    assert [len(prompt) for prompt in cut] == [*ODD_LENGTHS, *lengths(max_tokens)]
    assert len(cut) == 50
    assert len({prompt[0] for prompt in cut}) == 50
    return sorted(cut, key=len)
