"""Finds out, with a few tiny requests, what an endpoint speaks, serves and accepts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

import httpx

from headstart.insight import http
from headstart.insight.probe.endpoint import Endpoint
from headstart.insight.probe.prompts import Unseen
from headstart.insight.probe.recognise import model_names, recognise
from headstart.insight.probe.script import Prompt, Reply, Usage
from headstart.insight.probe.wires import WIRES, Wire
from headstart.insight.wire import EndpointError, error_message

REFUSALS = frozenset({400, 415, 422, 500, 501})
"""Statuses by which servers say that they do not understand a field."""
ASKED = ("openai-chat", "anthropic", "gemini")
"""Whose lists of models are asked for, in this order."""
TRIALS = 2
SHORT, LONG = 1, 400
"""Words of the two trials: what the longer one has more tells how many tokens a word has."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What two tiny requests cost and told."""

    endpoint: Endpoint
    """In the form that was accepted."""
    tokens_per_word: float
    usages: Sequence[Usage]
    prompt: Prompt
    """The longer one."""


def check_url(url: str) -> None:
    """Raises EndpointError for what is no URL."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise EndpointError(f"'{url}' is no URL: write http://host:port or https://host.")


def find_dialect(client: httpx.Client, url: str) -> str:
    """The dialect in which the endpoint answers. No key is sent: it might be another vendor's.

    Raises EndpointError where nobody answers, or in no dialect that is known.
    """
    statuses = []
    for name in ASKED:
        wire = WIRES[name]
        answer = _get(client, wire.models_url(url), wire.headers(None), url)
        found = recognise(answer.content)
        if found is not None:
            return found
        statuses.append(f"{answer.url.path} {answer.status_code}")
    raise EndpointError(
        f"{url} answers in no dialect that is known ({', '.join(statuses)}); name it: --dialect."
    )


def key_of(wire: Wire, given: str | None, environ: Mapping[str, str]) -> str | None:
    """The key that was given, or the vendor's usual one."""
    named = (environ.get(name) for name in wire.key_variables)
    return given or next((key for key in named if key), None)


def only_model(client: httpx.Client, wire: Wire, url: str, key: str | None) -> str:
    """The model of an endpoint that has one. Raises EndpointError where a choice is needed."""
    answer = _get(client, wire.models_url(url), wire.headers(key), url)
    if answer.status_code != 200:
        told = " ".join(error_message(answer.content).split())
        raise EndpointError(f"{answer.url} answered {answer.status_code}: {told}")
    names = model_names(answer.content)
    if len(names) == 1:
        return names[0]
    shown = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
    raise EndpointError(f"name a --model: {shown}" if names else "name a --model: none is listed")


def try_out(endpoint: Endpoint, seed: int) -> Trial:
    """The first form that is accepted, and how long words are. Raises EndpointError."""
    accepted, short = _accepted(endpoint, seed)
    prompt = Unseen(seed + 1, LONG).layout().fill(accepted.clock.wall)
    long = accepted.ask(prompt)
    usages = (short.usage, long.usage)
    if short.usage.input is None or long.usage.input is None:
        return Trial(accepted, 1.0, usages, prompt)
    each = (long.usage.input - short.usage.input) / (LONG - SHORT)
    if each <= 0:
        raise EndpointError(
            f"{endpoint.url} counts {long.usage.input} tokens in {LONG} words and"
            f" {short.usage.input} in {SHORT}: nothing can be measured by such counts."
        )
    return Trial(accepted, each, usages, prompt)


def _accepted(endpoint: Endpoint, seed: int) -> tuple[Endpoint, Reply]:
    prompt = Unseen(seed, SHORT).layout().fill(endpoint.clock.wall)
    refusal: EndpointError | None = None
    for form in endpoint.wire.forms:
        tried = replace(endpoint, form=form)
        try:
            return tried, tried.ask(prompt)
        except EndpointError as error:
            if error.status not in REFUSALS:
                raise
            refusal = error
    raise EndpointError(f"{endpoint.url} can't be probed: {refusal}") from refusal


def _get(
    client: httpx.Client, address: str, headers: Mapping[str, str], url: str
) -> httpx.Response:
    try:
        return client.get(address, headers=dict(headers))
    except (httpx.InvalidURL, ValueError) as error:
        raise EndpointError(f"'{url}' is no URL: {error}") from error
    except httpx.HTTPError as error:
        raise http.explain(error, url) from error
