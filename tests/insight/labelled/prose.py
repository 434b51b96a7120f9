"""Texts of realistic length, other ones for every seed."""

import random
import re
from collections.abc import Sequence

from tests.insight.labelled import words
from tests.insight.labelled.words import Language

_SLOT = re.compile(r"\{(\w+)\}")


class Writer:
    """Writes in one language; two writers with the same randomness write the same."""

    def __init__(self, rng: random.Random, language: Language) -> None:
        self.rng = rng
        self.language = language
        self._slots = words.SLOTS[language]
        self._firm = rng.choice(self._slots["firm"])

    def fill(self, templates: Sequence[str]) -> str:
        """One of the sentences, with its gaps filled."""
        template = self.rng.choice(templates)
        return _SLOT.sub(lambda gap: self._word(gap[1]), template)

    def _word(self, slot: str) -> str:
        return self._firm if slot == "firm" else self.rng.choice(self._slots[slot])

    @property
    def question(self) -> str:
        return self.fill(words.QUESTIONS[self.language])

    @property
    def answer(self) -> str:
        said = [self.fill(words.ANSWERS[self.language]) for _ in range(self.rng.randint(1, 3))]
        return self.joined(said)

    def joined(self, sentences: Sequence[str]) -> str:
        return ("" if self.language == "zh" else " ").join(sentences)

    def instructions(self, tokens: int) -> str:
        """A system prompt of at least so many tokens."""
        return f"{self.fill(words.OPENINGS[self.language])}\n\n{self.rules(tokens)}"

    def rules(self, tokens: int) -> str:
        """Sections of rules, headed; at least so many tokens, by `fewest_tokens`."""
        headings = self._shuffled(words.HEADINGS[self.language])
        sections: list[str] = []
        have = 0.0
        while have < tokens:
            number = len(sections)
            heading = headings[number % len(headings)]
            if number >= len(headings):
                heading += " " + "I" * (number // len(headings) + 1)
            pool = self._shuffled(words.RULES[self.language])
            lines = [self.fill((rule,)) for rule in pool[: self.rng.randint(6, 11)]]
            sections.append(f"## {heading}\n" + "\n".join(f"- {line}" for line in lines))
            have += fewest_tokens(sections[-1])
        return "\n\n".join(sections)

    def passage(self, tokens: int) -> str:
        """A paragraph of a document."""
        sentences: list[str] = []
        have = 0.0
        while have < tokens:
            sentences.append(self.fill(words.PASSAGES[self.language]))
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
        found: dict[str, None] = {}
        while len(found) < count:
            found[self.question] = None
        return list(found)

    def _shuffled(self, values: Sequence[str]) -> list[str]:
        return self.rng.sample(values, len(values))


def fewest_tokens(text: str) -> float:
    """Less than any vendor's tokenizer makes of it: 6 letters of English or 2 signs of Chinese."""
    wide = sum(character >= "\u2e80" for character in text)
    return (len(text) - wide) / 6 + wide / 2


def most_tokens(text: str) -> float:
    """More than any vendor's tokenizer makes of prose."""
    wide = sum(character >= "\u2e80" for character in text)
    return (len(text) - wide) / 2.5 + wide * 1.5
