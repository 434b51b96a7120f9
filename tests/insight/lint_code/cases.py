"""The set of planted and innocent sources: one Markdown file for each language.

`## planted HSC101: what it is` or `## innocent: what it is`, then the files of the case, each in a
fence that has the language and the file's name.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from headstart.insight.lint_code.lint import Source, lint

DIRECTORY = Path(__file__).parent / "cases"
_HEAD = re.compile(r"(planted|innocent)((?: HSC\d+)*): (.+)")
_FENCE = re.compile(r"^```\w+ (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Case:
    name: str
    codes: frozenset[str]
    """Empty: innocent."""
    sources: tuple[Source, ...]

    def found(self) -> set[str]:
        return {finding.code for finding in lint(self.sources).findings}


def cases(name: str) -> Iterator[Case]:
    text = (DIRECTORY / name).read_text()
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        head = _HEAD.fullmatch(part.partition("\n")[0])
        assert head is not None, part
        files = _FENCE.findall(part)
        assert files, part
        sources = tuple(Source(path, source, named=False) for path, source in files)
        yield Case(head[3], frozenset(head[2].split()), sources)
