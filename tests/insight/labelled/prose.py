"""Texts of realistic length, other ones for every seed."""

import random
import re
from collections.abc import Sequence
from functools import cache, partial

from tests.insight.labelled import words
from tests.insight.labelled.words import Language

MANY = 20
"""Sentences of each template."""
_SLOT = re.compile(r"\{(\w+)\}")
_WIDE = re.compile("[\u2e80-\uffff]")


class Writer:
    """Writes in one language; two writers with the same randomness write the same."""

    def __init__(self, rng: random.Random, language: Language, seed: int) -> None:
        self.rng = rng
        self.language = language
        firm = rng.choice(words.SLOTS[language]["firm"])
        self._sentences = partial(_sentences, seed, language, firm)

    @property
    def question(self) -> str:
        return self.rng.choice(self._sentences("questions"))

    @property
    def answer(self) -> str:
        return self.joined(self.rng.sample(self._sentences("answers"), self.rng.randint(3, 8)))

    def joined(self, sentences: Sequence[str]) -> str:
        return ("" if self.language == "zh" else " ").join(sentences)

    def instructions(self, tokens: int) -> str:
        """A system prompt of at least so many tokens."""
        return f"{self.rng.choice(self._sentences('openings'))}\n\n{self.rules(tokens)}"

    def rules(self, tokens: int) -> str:
        """Sections of rules, headed; at least so many tokens, by `fewest_tokens`."""
        known = words.HEADINGS[self.language]
        headings = self.rng.sample(known, len(known))
        sections: list[str] = []
        have = 0.0
        while have < tokens:
            number = len(sections)
            heading = headings[number % len(headings)]
            if number >= len(headings):
                heading += " " + "I" * (number // len(headings) + 1)
            lines = self.rng.sample(self._sentences("rules"), self.rng.randint(6, 11))
            sections.append(f"## {heading}\n" + "\n".join(f"- {line}" for line in lines))
            have += fewest_tokens(sections[-1])
        return "\n\n".join(sections)

    def passage(self, tokens: int) -> str:
        """A paragraph of a document."""
        pool = self._sentences("passages")
        sentences: list[str] = []
        have = 0.0
        while have < tokens:
            sentences.append(self.rng.choice(pool))
            have += fewest_tokens(sentences[-1])
        return self.joined(sentences)

    def documents(self, count: int, tokens: int) -> list[str]:
        """What a search found, each with a fixed name."""
        names = self.rng.sample(range(100, 1000), count)
        if self.language == "zh":
            return [f"【资料 KB-{name}】\n{self.passage(tokens)}" for name in names]
        return [f'<doc source="KB-{name}.md">\n{self.passage(tokens)}\n</doc>' for name in names]

    def several(self, count: int) -> list[str]:
        """Questions, all different."""
        return self.rng.sample(self._sentences("questions"), count)


@cache
def _sentences(seed: int, language: Language, firm: str, kind: str) -> Sequence[str]:
    """What may be said of one firm, all different. Made once, since most of it is used often."""
    rng = random.Random(f"{seed} {language} {firm} {kind}")
    slots = words.SLOTS[language]

    def fill(template: str) -> str:
        return _SLOT.sub(
            lambda gap: firm if gap[1] == "firm" else rng.choice(slots[gap[1]]), template
        )

    templates = words.SENTENCES[kind][language]
    return list(dict.fromkeys(fill(template) for template in templates for _ in range(MANY)))


def fewest_tokens(text: str) -> float:
    """Less than any vendor's tokenizer makes of it: 6 letters of English or 2 signs of Chinese."""
    wide = _wide(text)
    return (len(text) - wide) / 6 + wide / 2


def most_tokens(text: str) -> float:
    """More than any vendor's tokenizer makes of prose."""
    wide = _wide(text)
    return (len(text) - wide) / 2.5 + wide * 1.5


def _wide(text: str) -> int:
    """Chinese signs and the like."""
    return 0 if text.isascii() else len(_WIDE.findall(text))
