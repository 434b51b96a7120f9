"""The modules of the sources, and how they find each other."""

from collections.abc import Mapping, Sequence
from pathlib import PurePath

from headstart.insight.lint_code import ir
from headstart.insight.lint_code.language import Language


class Tree:
    """All modules that are judged together."""

    def __init__(self, modules: Sequence[ir.Module], languages: Mapping[str, Language]) -> None:
        self.modules = tuple(modules)
        self._languages = languages
        self._ends: dict[tuple[str, str], list[ir.Module]] = {}
        for module in modules:
            parts = module.name.split(".")
            for start in range(len(parts)):
                key = (module.language, ".".join(parts[start:]))
                self._ends.setdefault(key, []).append(module)

    def language(self, module: ir.Module) -> Language:
        """Of this module."""
        return self._languages[module.language]

    def find(self, name: str, asking: ir.Module) -> ir.Module | None:
        """The module of this name; of several, the nearest to the one that asks."""
        found = self._ends.get((asking.language, name), ())
        return max(found, key=lambda module: _shared(module, asking), default=None)


def _shared(one: ir.Module, other: ir.Module) -> int:
    pairs = zip(PurePath(one.path).parts, PurePath(other.path).parts, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), 0)
