"""Prompts as a server of ours renders them: `POST /tokenize` of the requests themselves."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

import httpx
import msgspec

from headstart.contracts.prompt import Prompt
from headstart.insight import http
from headstart.insight.asked.asked import Asked, Vendor
from headstart.insight.asked.count.counter import Counts
from headstart.insight.asked.formats.anthropic import as_shown
from headstart.insight.asked.prompt import path_of, to_prompt
from headstart.insight.wire import EndpointError, error_message


class _Part(msgspec.Struct):
    path: str
    end: int


class _Reply(msgspec.Struct):
    tokens: list[int]
    parts: list[_Part] = []
    messages: list[int | None] = []
    adapter: str | None = None
    vendor: Vendor | None = None


@dataclass(frozen=True, slots=True)
class Rendering:
    """One prompt, exactly."""

    prompt: Prompt
    messages: Sequence[int | None]
    """Tokens through each message that the template was given, a system prompt among them."""
    adapter: str | None
    vendor: Vendor | None
    """Whose contract the server holds the request to, if it says so."""

    def message(self, at: int) -> int | None:
        """The index of the one that token `at` lies in, as the server's own report counts it."""
        ends = enumerate(self.messages)
        return next((index for index, end in ends if end is not None and at < end), None)


def shown(asked: Asked) -> Asked:
    """The request as a server of ours shows it to the model."""
    if asked.format != "anthropic":
        return asked
    return replace(asked, pieces=as_shown(asked.pieces))


class Server:
    """Asks one server, and remembers its last answers."""

    def __init__(self, client: httpx.Client, url: str, counts: Counts) -> None:
        """`counts`: for where parts end that the server doesn't name."""
        self._client = client
        self._url = url.rstrip("/").removesuffix("/v1")
        self._counts = counts
        self._known: list[tuple[Any, Rendering]] = []

    def held(self, asked: Asked) -> Asked:
        """As it is shown, under the contract that the server holds it to. Raises EndpointError."""
        return replace(shown(asked), vendor=self.render(asked).vendor or asked.vendor)

    def prompt(self, asked: Asked) -> Prompt:
        """Raises EndpointError."""
        return replace(self.render(asked).prompt, tenant=asked.tenant)

    def render(self, asked: Asked) -> Rendering:
        """Raises EndpointError."""
        for body, rendering in self._known:
            if body is asked.body:
                return rendering
        rendering = self._render(asked)
        self._known = [*self._known[-1:], (asked.body, rendering)]
        return rendering

    def _render(self, asked: Asked) -> Rendering:
        try:
            response = self._client.post(f"{self._url}/tokenize", json=_question(asked))
        except httpx.HTTPError as error:
            raise http.explain(error, self._url) from error
        if response.status_code != 200:
            told = error_message(response.content)
            raise EndpointError(f"{self._url} refuses {asked.origin}: {told}")
        try:
            reply = msgspec.json.decode(response.content, type=_Reply)
        except msgspec.MsgspecError as error:
            raise EndpointError(f"{self._url}/tokenize is no server of ours: {error}") from None
        asked = replace(shown(asked), tokens=reply.tokens)
        prompt = to_prompt(asked, self._counts)
        named = {part.path: part.end for part in reply.parts}
        ends = [
            _end(named, path_of(piece, asked.format), counted)
            for piece, counted in zip(asked.pieces, prompt.ends, strict=True)
        ]
        rising = list(accumulate(ends, max))
        return Rendering(replace(prompt, ends=rising), reply.messages, reply.adapter, reply.vendor)


def _end(named: dict[str, int], path: str, counted: int) -> int:
    """As the server says; where it doesn't name the part, in proportion."""
    return named.get(path, named.get(f"{path}.content", counted))


def _question(asked: Asked) -> dict[str, Any]:
    match asked.format:
        case "anthropic":
            path = "/v1/messages"
        case "chat" if asked.vendor == "deepseek":
            path = "/chat/completions"
        case "chat":
            path = "/v1/chat/completions"
        case "responses":
            path = "/v1/responses"
        case "gemini":
            path = f"/v1beta/models/{asked.model}:generateContent"
        case "completion":
            return {"model": asked.model, "prompt": asked.pieces[0].text}
        case _:
            raise EndpointError(f"{asked.origin}: this server takes no {asked.format} requests")
    return {"path": path, "body": asked.body}
