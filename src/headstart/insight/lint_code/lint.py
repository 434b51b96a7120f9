"""Judges sources: the way from text to findings, without files."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from headstart.insight.findings.finding import Finding
from headstart.insight.findings.gather import in_order
from headstart.insight.findings.place import Place
from headstart.insight.findings.report import Report, Trouble
from headstart.insight.findings.selection import Selection
from headstart.insight.lint_code import ir
from headstart.insight.lint_code.found import finding
from headstart.insight.lint_code.ignore import kept
from headstart.insight.lint_code.javascript.names import JAVASCRIPT
from headstart.insight.lint_code.jinja.prompts import ENDINGS, is_prompt
from headstart.insight.lint_code.jinja.template import judge
from headstart.insight.lint_code.machine.hits import Hit
from headstart.insight.lint_code.machine.machine import Machine
from headstart.insight.lint_code.python.lower import lower
from headstart.insight.lint_code.python.names import PYTHON
from headstart.insight.lint_code.rules import RULES
from headstart.insight.lint_code.sources import JAVASCRIPT as JAVASCRIPT_SUFFIXES
from headstart.insight.lint_code.tree import Tree

TOOL = "headstart lint-code"
LANGUAGES = {"python": PYTHON, "javascript": JAVASCRIPT}
TOO_DEEP = "has something that is nested too deeply to be followed"
TOO_LONG = "has a function that takes too long to be followed"
GENERATED = "was written by a program, in lines too long for people: judge what it was made of"
MAX_CHARACTERS = 50_000
MAX_MEAN_LINE = 300
"""Characters of a line, on the average, of what has more than MAX_CHARACTERS."""
HOW_TO_READ_TYPESCRIPT = "is not judged: install the extra with pip install 'headstart[code]'"


@dataclass(frozen=True, slots=True)
class Source:
    """One file's text. `named` where the user named the file, not a directory above it."""

    path: str
    text: str
    named: bool = True


def lint(
    sources: Sequence[Source],
    selection: Selection | None = None,
    problems: Sequence[Trouble] = (),
    keep: Callable[[Finding], bool] = lambda _: True,
) -> Report:
    """`problems` are of files that could not be read at all; `keep` says which findings count."""
    reader = _Reader()
    for source in sources:
        reader.read(source)
    machine = Machine(Tree(reader.modules, LANGUAGES))
    hits = [*reader.hits, *machine.run()]
    deep = [Trouble(Place(path), TOO_DEEP) for path in sorted(machine.too_deep)]
    long = [Trouble(Place(path), TOO_LONG) for path in sorted(machine.too_long)]
    chosen = selection or Selection()
    lines = {source.path: source.text.splitlines() for source in sources}
    found = kept((finding(hit) for hit in hits if hit.taint.cause.code in chosen), lines)
    return Report(
        tool=TOOL,
        rules=chosen.of(RULES),
        findings=in_order(_once(filter(keep, found))),
        checked=reader.checked,
        problems=[*problems, *reader.problems],
        abstained=[*reader.abstained, *deep, *long],
    )


def _once(findings: Iterable[Finding]) -> Iterator[Finding]:
    """One for each source, by its shortest way: it is mended in one place."""
    by_source: dict[tuple[str, Place], list[Finding]] = {}
    for each in findings:
        by_source.setdefault((each.code, each.steps[0].where), []).append(each)
    for same in by_source.values():
        shortest = min(same, key=lambda each: (len(each.steps), str(each.where)))
        places = len({each.where for each in same})
        if places > 1:
            message = f"{shortest.message.removesuffix('.')}, and {places - 1} more."
            shortest = replace(shortest, message=message)
        yield shortest


class _Reader:
    def __init__(self) -> None:
        self.modules: list[ir.Module] = []
        self.hits: list[Hit] = []
        self.problems: list[Trouble] = []
        self.abstained: list[Trouble] = []
        self.checked = 0

    def read(self, source: Source) -> None:
        suffix = PurePath(source.path).suffix
        if suffix not in ENDINGS and _is_generated(source.text):
            self.abstained.append(Trouble(Place(source.path), GENERATED))
            return
        try:
            if suffix in ENDINGS:
                if not source.named and not is_prompt(source.path, source.text):
                    return
                self.hits += judge(source.path, source.text)
            elif suffix in JAVASCRIPT_SUFFIXES:
                self.modules.append(_javascript(source))
            else:
                self.modules.append(lower(source.path, source.text))
        except SyntaxError as error:
            reason = f"can't be parsed: {error.msg}"
            self.problems.append(Trouble(Place(source.path, error.lineno), reason))
        except (ValueError, RecursionError, MemoryError) as error:
            reason = f"can't be parsed: {str(error) or type(error).__name__}"
            self.problems.append(Trouble(Place(source.path), reason))
        except ModuleNotFoundError:
            self.abstained.append(Trouble(Place(source.path), HOW_TO_READ_TYPESCRIPT))
        else:
            self.checked += 1


def _is_generated(text: str) -> bool:
    """Bundled or minified."""
    lines = text.count("\n") + 1
    return len(text) > MAX_CHARACTERS and len(text) / lines > MAX_MEAN_LINE


def _javascript(source: Source) -> ir.Module:
    from headstart.insight.lint_code.javascript.lower import lower as lower_javascript

    return lower_javascript(source.path, source.text)
