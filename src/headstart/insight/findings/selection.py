"""Which rules are asked for."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from headstart.insight.findings.rule import Rule


class UnknownCode(ValueError):
    """No rule has such a code. `str()` is one line for people."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Codes, or beginnings of codes: of two that fit a code the longer one decides, as in ruff."""

    select: tuple[str, ...] = ()
    """Empty: all."""
    ignore: tuple[str, ...] = ()

    def __contains__(self, code: str) -> bool:
        chosen = _longest(self.select, code) if self.select else 0
        ignored = _longest(self.ignore, code)
        return chosen is not None and (ignored is None or ignored < chosen)

    def of(self, rules: Sequence[Rule]) -> list[Rule]:
        """Raises UnknownCode for what fits no rule."""
        for code in (*self.select, *self.ignore):
            if not any(rule.code.startswith(code) for rule in rules):
                known = ", ".join(rule.code for rule in rules)
                raise UnknownCode(f"no rule {code}; there are {known}")
        return [rule for rule in rules if rule.code in self]


def codes(texts: Iterable[str]) -> tuple[str, ...]:
    """Of `HSC101,HSC2` and the like, in capitals."""
    return tuple(code.strip().upper() for text in texts for code in text.split(",") if code.strip())


def _longest(beginnings: Iterable[str], code: str) -> int | None:
    return max((len(each) for each in beginnings if code.startswith(each)), default=None)
