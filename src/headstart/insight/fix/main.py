"""Writes the changed requests, and says what was changed and what it gains."""

import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from headstart.insight.asked.asked import Asked
from headstart.insight.asked.count import Counter, Counts
from headstart.insight.asked.detect import Signs
from headstart.insight.causes import ABOUT, Cause
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
) -> Fixed:
    """Writes `out`, which must not be there. Raises OSError, and Unreadable for what changed."""
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
            for record in recording.records():
                _write(file, _rewritten(record, fixed, rules))
        except Exception:
            out.unlink()
            raise
    return fixed


def _rewritten(record: Record, fixed: Fixed, rules: Rules) -> Any:
    if len(record.asked) != 1:
        return record.value
    new, made = rewritten(record.asked[0], fixed.plan, rules)
    return record.with_body(new.body) if made else record.value


def _write(file: IO[str], value: Any) -> None:
    file.write(json.dumps(value, ensure_ascii=False) + "\n")


def _is_lines(path: Path) -> bool:
    """Whether it is plain text, one value a line, so that it can stay byte for byte."""
    with path.open("rb") as file:
        return file.read(1) == b"{"


def said(fixed: Fixed, out: Path, count: Counter) -> str:
    """For people."""
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
    return "\n".join(lines) + "\n"


def _requests(number: int) -> str:
    return f"{number:,} request{'s' if number != 1 else ''}"


def _named(cause: Cause) -> str:
    return f"{ABOUT[cause].code} {cause.value.replace('_', '-')}"
