"""Writes the changed requests, and says what was changed and what it gains."""

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from headstart.insight.asked.asked import Asked, Origin
from headstart.insight.asked.count import Counter, Counts
from headstart.insight.asked.detect import Signs
from headstart.insight.causes import ABOUT, Cause
from headstart.insight.findings.finding import Finding
from headstart.insight.fix.fixing import Fixed, fix
from headstart.insight.fix.needs import needs
from headstart.insight.fix.records import Record, Source, records
from headstart.insight.fix.trial import Trial, begin, rewritten
from headstart.insight.lint.breaks import Gathered
from headstart.ledger import PriceBook, Rules


@dataclass(frozen=True, slots=True)
class Recording:
    """What is read, as often as needed."""

    sources: Sequence[Source]
    signs: Signs

    def __iter__(self) -> Iterator[Asked]:
        for record in self.records():
            yield from record.asked

    def records(self) -> Iterator[Record]:
        """With lines that ask nothing."""
        for source in self.sources:
            yield from records(source, self.signs)


def fix_all(
    recording: Recording,
    out: Path,
    *,
    broken: Sequence[Gathered],
    found: Sequence[Cause],
    count: Counter,
    now: datetime,
    heard: Callable[[Asked], None],
) -> Fixed:
    """Writes `out`, which must not be there. Raises OSError, and Unreadable for what changed.

    `heard`: of each request as it stands in `out`, if any is changed.
    """
    rules = Rules.packaged()
    trial = Trial(
        lambda: recording, Counts(count), rules=rules, prices=PriceBook.standard(), now=now
    )
    fixed = fix(needs(broken, found), found, trial, rules)
    if not fixed.plan and len(recording.sources) == 1 and _is_lines(recording.sources[0].path):
        with recording.sources[0].path.open("rb") as old, out.open("xb") as copy:
            shutil.copyfileobj(old, copy)
        return fixed
    begin(fixed.plan)
    with out.open("x", encoding="utf-8", errors="surrogatepass", newline="\n") as file:
        try:
            for number, record in enumerate(recording.records(), 1):
                value, requests = _rewritten(record, fixed, rules)
                _write(file, value)
                for asked in requests:
                    heard(replace(asked, origin=Origin(str(out), number)))
        except Exception:
            out.unlink()
            raise
    return fixed


def _rewritten(record: Record, fixed: Fixed, rules: Rules) -> tuple[Any, Sequence[Asked]]:
    """The value, and the requests in it."""
    if len(record.asked) != 1:
        return record.value, record.asked
    new, made = rewritten(record.asked[0], fixed.plan, rules)
    return record.with_body(new.body) if made else record.value, [new]


def _write(file: IO[str], value: Any) -> None:
    file.write(json.dumps(value, ensure_ascii=False) + "\n")


def _is_lines(path: Path) -> bool:
    """Whether it is plain text, one value a line, so that it can stay byte for byte."""
    with path.open("rb") as file:
        return file.read(1) == b"{"


def said(fixed: Fixed, out: Path, count: Counter, remains: Sequence[Finding]) -> str:
    """For people. `remains`: what is found in `out`."""
    before, after = fixed.before, fixed.after
    lines = []
    if fixed.plan:
        lines.append(f"Changed, in {out}:")
        lines += [
            f"  - {rewrite.name}: {_requests(after.changed[rewrite.name])}"
            for rewrite in fixed.plan
        ]
        about = "" if count.measured else "about "
        lines.append(
            f"Tokens read: {about}{before.read:,} → {after.read:,} of {after.prompt:,}"
            f"; proved by replay (contract {', '.join(sorted(after.contracts))})."
        )
        if before.refused:
            lines.append(f"Refused by the vendor: {before.refused} → {after.refused} requests.")
        elif before.money is not None and after.money is not None:
            lines.append(f"Dollars for prompts: {before.money:.6f} → {after.money:.6f}.")
    else:
        lines.append(f"Nothing to fix: {out} has the requests as they are.")
    if fixed.left:
        lines.append("Not fixed:")
        lines += [f"  - {_named(cause)}: {why}" for cause, why in fixed.left.items()]
    told = {ABOUT[cause].code for cause in fixed.left}
    partly = {ABOUT[cause].code: why for cause, why in fixed.partly.items()}
    unsaid = [finding for finding in remains if finding.code not in told]
    if unsaid:
        lines.append("Not fixed wholly:")
        lines += [f"  - {_remaining(finding, partly.get(finding.code))}" for finding in unsaid]
    return "\n".join(lines) + "\n"


def _remaining(finding: Finding, why: str | None) -> str:
    known = "" if why is None else f" One reason: {why}."
    return f"{finding.where}: {finding.code} {finding.message}{known}"


def _requests(number: int) -> str:
    return f"{number:,} request{'s' if number != 1 else ''}"


def _named(cause: Cause) -> str:
    return f"{ABOUT[cause].code} {cause.value.replace('_', '-')}"
