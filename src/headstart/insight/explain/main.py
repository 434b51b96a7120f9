"""Explains for a person or a program: the explanation on stdout, troubles on stderr."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from headstart.insight.asked.asked import Asked
from headstart.insight.asked.count import Counter, Counts, counter_of
from headstart.insight.asked.detect import Signs
from headstart.insight.asked.errors import Unreadable
from headstart.insight.asked.prompt import to_prompt
from headstart.insight.asked.source import read_requests
from headstart.insight.explain.exact import Server, shown
from headstart.insight.explain.explanation import Counting, Explanation, Wanted, explain
from headstart.insight.explain.facts import TOOL, facts
from headstart.insight.explain.history import History, PromptOf, Told, find
from headstart.insight.explain.render import FORMS, Form
from headstart.insight.findings.report import ABSTAINED, CLEAN, FINDINGS, IMPOSSIBLE
from headstart.insight.shown import plain, redacted
from headstart.insight.wire import EndpointError
from headstart.ledger import PriceBook, PriceError

STATUS = {"nothing_lost": CLEAN, "lost": FINDINGS, "unknown": ABSTAINED}


@dataclass(frozen=True, slots=True)
class Given:
    """What was asked for."""

    first: str
    second: str | None = None
    """The later request; None where `first` is a recording."""
    id: str | None = None
    provider: str = "auto"
    model: str | None = None
    tokenizer: Path | None = None
    url: str | None = None
    api_key: str | None = None
    prices: Path | None = None
    wanted: Wanted = field(default_factory=Wanted)
    form: Form = "text"
    redact: bool = False


def main(given: Given) -> int:
    """The exit status."""
    troubles: list[Unreadable] = []
    try:
        found = _explanation(given, troubles)
    except (Unreadable, EndpointError, PriceError) as error:
        for each in (*troubles, error):
            print(f"{TOOL}: {each}", file=sys.stderr)
        return IMPOSSIBLE
    for trouble in troubles:
        print(f"{TOOL}: {trouble}", file=sys.stderr)
    told = facts(found, redacted if given.redact else plain)
    print(FORMS[given.form](told), end="")
    return IMPOSSIBLE if troubles else STATUS[found.verdict.outcome]


def _explanation(given: Given, troubles: list[Unreadable]) -> Explanation:
    """`troubles` gets what of a recording can't be read.

    Raises Unreadable, EndpointError and PriceError."""
    counter = counter_of(given.tokenizer)
    counts = Counts(counter)
    prices = PriceBook.standard(given.prices)
    told = _told(given, lambda asked: to_prompt(asked, counts), troubles)
    earlier = told.earlier
    if given.url is not None:
        with _server(given.url, given.api_key, counts) as server:
            held = server.held if given.provider == "auto" else shown
            return _exactly(told, server, held, prices, given.wanted)
    before = None if earlier is None else to_prompt(earlier, counts)
    return explain(told, _counting(told, counter), prices, given.wanted, before=before)


def _told(given: Given, prompt_of: PromptOf, troubles: list[Unreadable]) -> Told:
    signs = Signs("" if given.provider == "auto" else given.provider, model=given.model or "")
    history = History(prompt_of)
    if given.second is None:
        heard = read_requests([given.first], signs, lambda _, error: troubles.append(error))
        first = next(heard, None)
        if first is None and troubles:
            raise troubles.pop()
        return find(history, heard if first is None else chain([first], heard), given.id)
    one, other = (_only(place, signs) for place in (given.first, given.second))
    return history.pair(one, other)


def _only(place: str, signs: Signs) -> Asked:
    """The one request of a file. Raises Unreadable where there are more."""
    requests = read_requests([place], signs)
    first = next(requests, None)
    if first is None:
        raise Unreadable("no requests", place)
    if next(requests, None) is not None:
        raise Unreadable("more than one request; name one of a recording with --id", place)
    return first


def _exactly(
    told: Told,
    server: Server,
    held: Callable[[Asked], Asked],
    prices: PriceBook,
    wanted: Wanted,
) -> Explanation:
    """With prompts as the server renders them; what came before the two is left out.

    `held`: puts a request under the contract that it is judged by.
    """
    counting = Counting("measured", "by the server's tokenizer and template")
    if told.earlier is None:
        alone = History(server.prompt).hear(held(told.asked))
        return explain(alone, counting, prices, wanted, (None, server.render(told.asked)))
    exact = History(server.prompt).pair(held(told.earlier), held(told.asked))
    both = server.render(told.earlier), server.render(told.asked)
    return explain(exact, counting, prices, wanted, both, server.prompt(told.earlier))


def _counting(told: Told, counter: Counter) -> Counting:
    if told.asked.tokens is not None and (told.earlier is None or told.earlier.tokens is not None):
        return Counting("measured", "the recording has the tokens")
    if counter.measured:
        # Exact for texts; what a template puts around them is not known.
        return Counting("derived", f"{counter.method}, and three tokens to open a message")
    return Counting("estimated", counter.method)


@contextmanager
def _server(url: str, api_key: str | None, counts: Counts) -> Iterator[Server]:
    import httpx

    from headstart.insight import http

    with httpx.Client(
        headers=http.headers(api_key), timeout=http.timeout(), trust_env=http.is_remote(url)
    ) as client:
        yield Server(client, url, counts)
