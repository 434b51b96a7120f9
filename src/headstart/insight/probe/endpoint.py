"""Asks for one streamed answer and takes its times. The only stop-watch of the probe is here."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import httpx
import msgspec

from headstart.insight import http
from headstart.insight.probe.script import Prompt, Reply, Usage
from headstart.insight.probe.wires import Form, Wire
from headstart.insight.sse import SSEDecoder
from headstart.insight.wire import EndpointError, error_message

BUSY = frozenset({429, 503, 529})
"""Statuses after which the same request may be sent again."""
TRIES = 4
PATIENCE_SECONDS = 60.0
"""Longest wait that a busy endpoint is granted at a time."""


@dataclass(frozen=True, slots=True)
class Clock:
    """Where time comes from."""

    now: Callable[[], float]
    """Monotonic seconds."""
    sleep: Callable[[float], None]
    wall: Callable[[], str]
    """The time of day as a prompt would show it; two readings never agree."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One model behind one URL, asked in one dialect and one form."""

    client: httpx.Client
    wire: Wire
    url: str
    model: str
    headers: Mapping[str, str]
    form: Form
    output: int
    clock: Clock

    def ask(self, prompt: Prompt) -> Reply:
        """Stream an answer to its end. Raises EndpointError, also when no token or no end came."""
        body = self.wire.body(self.model, prompt, self.output, self.form)
        content = msgspec.json.encode(body)
        tries = 1
        while True:
            try:
                return self._stream(content)
            except _Busy as busy:
                if tries == TRIES:
                    raise EndpointError(str(busy), status=busy.status) from None
                self.clock.sleep(min(busy.after or 2.0**tries, PATIENCE_SECONDS))
                tries += 1
            except httpx.HTTPError as error:
                raise http.explain(error, self.url) from error

    def _stream(self, content: bytes) -> Reply:
        decoder, usage, whole = SSEDecoder(), Usage(), False
        first: float | None = None
        url, headers = self.wire.url(self.url, self.model), dict(self.headers)
        sent = self.clock.now()
        with self.client.stream("POST", url, content=content, headers=headers) as response:
            if response.status_code != 200:
                response.read()
                raise _refusal(response)
            for received in response.iter_raw():
                arrived = self.clock.now()
                for payload in decoder.feed(received):
                    heard = self.wire.hear(payload)
                    usage = usage.then(heard.usage)
                    whole = whole or heard.last
                    if heard.token and first is None:
                        first = arrived
            kind = response.headers.get("content-type", "nothing known")
        if first is None:
            raise EndpointError(f"{url} answered without a single token (content type: {kind})")
        if not whole:
            raise EndpointError(f"{url} broke off its answer after the first token")
        return Reply(sent, first - sent, usage)


class _Busy(EndpointError):
    """Refused for now."""

    def __init__(self, message: str, status: int, after: float | None) -> None:
        super().__init__(message, status=status)
        self.after = after


def _refusal(response: httpx.Response) -> EndpointError:
    status = response.status_code
    told = " ".join(error_message(response.content).split())
    message = f"the endpoint answered {status}: {told}"
    if status not in BUSY:
        return EndpointError(message, status=status)
    after = response.headers.get("retry-after", "")
    return _Busy(message, status, float(after) if after.isdecimal() else None)
