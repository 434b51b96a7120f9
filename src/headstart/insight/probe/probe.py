"""The order of things: meet the endpoint, tell the cost, ask, judge."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import TypeVar

import httpx

from headstart.insight import http
from headstart.insight.probe import meet
from headstart.insight.probe.cost import Budget, Plan, Purse, Rate, calls_within, plan, rate
from headstart.insight.probe.drive import Watcher, drive
from headstart.insight.probe.endpoint import Clock, Endpoint
from headstart.insight.probe.findings import self_test_report
from headstart.insight.probe.given import Given
from headstart.insight.probe.prompts import Unseen
from headstart.insight.probe.report import Report, Setup
from headstart.insight.probe.retention import retention, retention_report
from headstart.insight.probe.script import Script, Usage
from headstart.insight.probe.steps import calls_of, three_steps
from headstart.insight.probe.wires import WIRES
from headstart.insight.wire import EndpointError

T = TypeVar("T")
FRAME = 60
"""Tokens of a prompt besides its prefix, until the endpoint tells."""
LEAST_CALLS = 8
"""Of --retention: two trials, a prefix that is read back, and the longer trial and that counted."""
DOLLARS = Decimal(1)
"""The budget where a price is known, unless told otherwise."""


class OverBudget(Exception):
    """It would cost more than it may. `str()` is meant for the user."""


def probe(given: Given, *, clock: Clock, environ: Mapping[str, str], watcher: Watcher) -> Report:
    """Test an endpoint, or find what it retains. Raises EndpointError, OverBudget."""
    given.refuse_idle()
    meet.check_url(given.url)
    with httpx.Client(
        headers=http.headers(None), timeout=http.timeout(), trust_env=http.is_remote(given.url)
    ) as client:
        name = given.dialect or meet.find_dialect(client, given.url)
        wire = WIRES[name]
        key = meet.key_of(wire, given.api_key, environ)
        model = given.model or meet.only_model(client, wire, given.url, key)
        if given.output is not None and given.output < wire.least_output:
            raise EndpointError(f"{name} gives no answer of fewer than {wire.least_output} tokens.")
        output = given.output or wire.least_output
        endpoint = Endpoint(
            client, wire, given.url, model, wire.headers(key), wire.forms[0], output, clock
        )
        return _Session(given, name, endpoint, watcher).run()


class _Session:
    """One endpoint, and the purse for it."""

    def __init__(self, given: Given, dialect: str, endpoint: Endpoint, watcher: Watcher) -> None:
        self._given = given
        self._endpoint = endpoint
        self._watcher = watcher
        self._prefix = given.prefix_tokens(endpoint.wire.vendor, endpoint.model)
        self._prompt = self._prefix + FRAME
        self._rate = _rate(given, endpoint)
        self._budget = _budget(given, self._rate)
        self._purse = Purse(self._budget, self._rate, Usage(self._prompt, output=endpoint.output))
        self._setup: Setup = {
            "url": given.url,
            "dialect": dialect,
            "model": endpoint.model,
            "prefix": self._prefix,
            "pause_s": given.pause_seconds,
            "seed": given.seed,
        }

    def run(self) -> Report:
        """Raises EndpointError, OverBudget."""
        return self._retention() if self._given.retention else self._self_test()

    def _self_test(self) -> Report:
        given = self._given
        others = given.other_key is not None
        calls = calls_of(given.sample_count, own_clock=given.own_clock, other_key=others)
        self._tell(self._plan(calls + meet.TRIALS))
        trial = self._meet()
        self._watcher.expect(calls)
        script = three_steps(
            self._unseen(trial),
            given.sample_count,
            own_clock=given.own_clock,
            clock=self._endpoint.clock.wall,
            seed=given.seed,
            other_key=others,
        )
        taken = self._drive(script, trial)
        setup = {**self._setup, "samples": given.sample_count, "marked": trial.endpoint.form.marks}
        return self_test_report(taken, setup, self._purse)

    def _retention(self) -> Report:
        given = self._given
        calls = max(calls_within(self._budget, self._plan(1)), LEAST_CALLS)
        self._tell(self._plan(calls), f"{given.longest_wait:.0f} s of waiting")
        trial = self._meet()
        script = retention(
            self._unseen(trial), self._endpoint.clock.wall, given.longest_wait, [trial.prompt]
        )
        found = self._drive(script, trial)
        setup = {**self._setup, "max_wait_s": given.longest_wait}
        return retention_report(found, setup, self._purse)

    def _drive(self, script: Script[T], trial: meet.Trial) -> T:
        own, given = trial.endpoint, self._given
        other = own
        if given.other_key is not None:
            other = replace(own, headers=own.wire.headers(given.other_key))
        return drive(
            script,
            lambda call: (other if call.other else own).ask(call.prompt),
            self._endpoint.clock,
            self._purse,
            self._watcher,
            pause=given.pause_seconds,
        )

    def _meet(self) -> meet.Trial:
        trial = meet.try_out(self._endpoint, self._given.seed + 1)
        for usage in trial.usages:
            self._purse.pay(usage)
        return trial

    def _unseen(self, trial: meet.Trial) -> Unseen:
        words = max(1, round(self._prefix / trial.tokens_per_word))
        return Unseen(self._given.seed, words, self._given.text)

    def _plan(self, calls: int) -> Plan:
        return plan(calls, self._prompt, self._endpoint.output, self._rate)

    def _tell(self, planned: Plan, more: str = "") -> None:
        """Says what it will cost before it is spent. Raises OverBudget."""
        rate = self._rate
        if rate is None or planned.dollars is None:
            money = "price unknown"
        else:
            money = f"${planned.dollars:.4f} by {rate.name}'s prices ({rate.source})"
        cost = f"at most {planned.calls:,} requests, about {planned.tokens:,} tokens, {money}"
        self._watcher.tell(f"Will spend {', '.join(filter(None, (cost, more)))} (estimated).")
        if not self._purse.covers(planned):
            raise OverBudget(
                f"over budget: {cost}. Raise --budget-tokens or --budget-usd, take fewer samples"
                " (-n) or a shorter --prefix, or say --yes."
            )


def _rate(given: Given, endpoint: Endpoint) -> Rate | None:
    vendor, model = endpoint.wire.vendor, endpoint.model
    if given.price is not None:
        vendor, slash, model = given.price.partition("/")
        if not (vendor and slash and model):
            raise EndpointError(f"'{given.price}' is not VENDOR/MODEL, such as openai/gpt-5.5")
    return rate(vendor, model, prices=given.prices, day=datetime.now(UTC))


def _budget(given: Given, priced: Rate | None) -> Budget:
    if given.over_budget:
        # What is retained may take any number of tokens to fill: that is limited in every case.
        return Budget(given.budget_tokens if given.retention else None, None)
    if given.budget_dollars is not None and priced is None:
        raise EndpointError(
            "the price is unknown, so --budget-usd can't hold: give --price or --prices, or"
            " --budget-tokens alone"
        )
    dollars = DOLLARS if given.budget_dollars is None and priced is not None else None
    return Budget(given.budget_tokens, given.budget_dollars or dollars)
