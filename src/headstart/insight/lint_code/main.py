"""Lints files: the report on stdout, one line on stderr for each thing that was not judged."""

import gc
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from headstart.insight.findings.finding import Severity
from headstart.insight.findings.place import Place
from headstart.insight.findings.render import Form, render
from headstart.insight.findings.report import IMPOSSIBLE, FailOn, Trouble, exit_code
from headstart.insight.findings.rule import pages
from headstart.insight.findings.selection import Selection, UnknownCode
from headstart.insight.findings.text import troubles
from headstart.insight.lint_code.changed import GitError, changed_lines, touches
from headstart.insight.lint_code.lint import TOOL, Source, lint
from headstart.insight.lint_code.rules import RULES
from headstart.insight.lint_code.settings import ConfigError, Settings, read
from headstart.insight.lint_code.sources import SUFFIXES, unique, walk

STDIN = Path("-")
_NEW_OBJECTS = 200_000
"""Between two looks for garbage."""
MAX_BYTES = 4 << 20
"""No one writes a source as long as this; what is longer was generated."""


def main(
    paths: Sequence[Path], given: Settings, *, form: Form, diff: str | None, stdin_name: str
) -> int:
    """The exit status."""
    try:
        settings = given.over(read(Path.cwd()))
        selection = Selection(settings.select, settings.ignore)
        selection.of(RULES)
        fail_on = _fail_on(settings.fail_on)
        changed = None if diff is None else changed_lines(diff, Path.cwd())
    except (ConfigError, UnknownCode, GitError) as error:
        print(f"{TOOL}: {error}", file=sys.stderr)
        return IMPOSSIBLE
    sources, problems = _sources(paths, settings.exclude, stdin_name)
    with _rarely_collected():
        report = lint(
            sources,
            selection,
            problems,
            keep=lambda each: changed is None or touches(each, changed),
        )
    for line in troubles(report):
        print(line, file=sys.stderr)
    sys.stdout.write(render(report, form))
    return exit_code(report, fail_on)


@contextmanager
def _rarely_collected() -> Iterator[None]:
    """Trees of sources are large and live to the end: looking through them for garbage again and
    again takes a sixth of the time."""
    before = gc.get_threshold()
    gc.set_threshold(_NEW_OBJECTS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def explained(code: str) -> int:
    """Prints a rule's page, or those of all that begin so."""
    found = [rule for rule in RULES if code == "all" or rule.code.startswith(code.upper())]
    if not found:
        print(f"{TOOL}: no rule {code}; there are {_known()}", file=sys.stderr)
        return IMPOSSIBLE
    sys.stdout.write(pages(found))
    return 0


def _sources(
    paths: Sequence[Path], exclude: Sequence[str], stdin_name: str
) -> tuple[list[Source], list[Trouble]]:
    sources: list[Source] = []
    problems: list[Trouble] = []
    if STDIN in paths:
        sources.append(Source(stdin_name, sys.stdin.buffer.read().decode(errors="replace")))
    named = set(paths)
    for path in unique(walk([path for path in paths if path != STDIN], exclude)):
        got = _read(path, path in named)
        if isinstance(got, Trouble):
            problems.append(got)
        else:
            sources.append(got)
    return sources, problems


def _read(path: Path, named: bool) -> Source | Trouble:
    place = Place(path.as_posix())
    try:
        if path.suffix not in SUFFIXES:
            return Trouble(place, f"is no source that is known: {', '.join(sorted(SUFFIXES))}")
        if path.stat().st_size > MAX_BYTES:
            return Trouble(place, f"is larger than {MAX_BYTES >> 20} MiB: too long for a source")
        return Source(path.as_posix(), path.read_text(encoding="utf-8-sig"), named)
    except UnicodeDecodeError:
        return Trouble(place, "is no UTF-8")
    except OSError as error:
        return Trouble(place, f"can't be read: {error.strerror}")


def _fail_on(text: str) -> FailOn:
    if not text:
        return FailOn()
    fail_on = FailOn.parse(text)
    for code in fail_on.codes:
        if not any(rule.code.startswith(code) for rule in RULES):
            known = f"{', '.join(Severity)}, or a code of {_known()}"
            raise UnknownCode(f"--fail-on: no severity or rule {code}; there are {known}")
    return fail_on


def _known() -> str:
    return ", ".join(rule.code for rule in RULES)
