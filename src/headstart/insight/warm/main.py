"""Warms for a person or a program: the report on stdout, calls and what stops them on stderr."""

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Literal

from headstart.insight.warm import send
from headstart.insight.warm.ahead import beyond, cut_short
from headstart.insight.warm.begin import begin
from headstart.insight.warm.dialects import DIALECTS
from headstart.insight.warm.dialects.dialect import Heard
from headstart.insight.warm.driver import Purse, drive
from headstart.insight.warm.errors import NoPrice, WarmError
from headstart.insight.warm.plan_file import Plan, read_plan, seconds
from headstart.insight.warm.render import Report, as_csv, as_json
from headstart.insight.warm.text import as_text, told
from headstart.insight.warm.warming import Warming

FINE, FINDING, IMPOSSIBLE, UNKNOWN = 0, 1, 2, 3
"""Exit statuses. Unknown: of prices, or of whether anything was cached."""
NEVER_BEGAN = ("refused", "unreachable")


@dataclass(frozen=True, slots=True)
class Given:
    """What the command line says."""

    plan: Path
    dry: bool = False
    budget_usd: float | None = None
    budget_tokens: int | None = None
    limit: str | None = None
    prices: Path | None = None


def main(
    given: Given,
    *,
    form: Literal["text", "json", "csv"],
    environment: Mapping[str, str] = os.environ,
    now: Callable[[], float] = time.time,
    sleep: Callable[[float], None] = time.sleep,
) -> int:
    """The exit status."""
    try:
        plan = read_plan(given.plan)
        limit = None if given.limit is None else seconds(given.limit, "--for")
        warmings = begin(plan, prices=given.prices, now=now(), limit=limit)
        purse = Purse(
            None if given.budget_usd is None else Decimal(str(given.budget_usd)),
            given.budget_tokens,
        )
        report = Report(plan, warmings, given.dry)
        if given.budget_usd is not None and not report.dollars:
            raise NoPrice(
                f"The price of {plan.model} is unknown, so --budget-usd can't be kept:"
                " give --prices FILE or --budget-tokens."
            )
        if given.dry:
            obstacles = [*_no_key(plan, environment), *beyond(warmings, purse)]
            report = replace(report, obstacles=obstacles, notes=list(cut_short(warmings)))
        else:
            _carry_out(report, purse, environment, now, sleep)
    except WarmError as error:
        print(f"headstart warm: {error}", file=sys.stderr)
        return IMPOSSIBLE
    except NoPrice as unknown:
        print(f"headstart warm: {unknown}", file=sys.stderr)
        return UNKNOWN
    render = {"text": as_text, "json": as_json, "csv": as_csv}[form]
    print(render(report), end="" if form == "csv" else "\n")
    return _status(report)


def _carry_out(
    report: Report,
    purse: Purse,
    environment: Mapping[str, str],
    now: Callable[[], float],
    sleep: Callable[[float], None],
) -> None:
    plan = report.plan
    headers = {**DIALECTS[plan.dialect].headers(_key(plan, environment)), **plan.headers}

    def tell(warming: Warming, at: float, what: Heard | Exception) -> None:
        print(told(warming, at, what, dollars=report.dollars), file=sys.stderr, flush=True)

    with send.client(plan.endpoint) as client:
        sender = send.Sender(client, plan.endpoint, headers)
        drive(report.warmings, sender, purse, now=now, sleep=sleep, tell=tell)


def _no_key(plan: Plan, environment: Mapping[str, str]) -> Iterator[str]:
    """A finding, if calls couldn't be sent for want of a key."""
    try:
        _key(plan, environment)
    except WarmError as error:
        yield str(error)


def _key(plan: Plan, environment: Mapping[str, str]) -> str | None:
    if plan.key_env is None:
        return None
    key = environment.get(plan.key_env, "").strip()
    if not key:
        raise WarmError(f"the environment has no {plan.key_env}, which the plan names as its key")
    if not (key.isascii() and key.isprintable()):
        raise WarmError(f"what {plan.key_env} holds is no key: it can't stand in a header")
    return key


def _status(report: Report) -> int:
    warmings = report.warmings
    if all(each.ended in NEVER_BEGAN and not each.sent for each in warmings):
        return IMPOSSIBLE
    if not report.findings:
        return FINE
    ends = {each.ended for each in warmings if each.findings}
    return UNKNOWN if ends == {"not told"} else FINDING
