"""A client that goes takes its work with it, at once."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest
from starlette.types import Message

from headstart.server.disconnect import ClientGone, while_connected
from headstart.server.responses import EventStream

LONG = {"max_tokens": 900, "ignore_eos": True, "temperature": 0}
CHAT = {"model": "tiny", "messages": [{"role": "user", "content": "Hello"}], **LONG}


@pytest.fixture
def idle(live: Any, eventually: Callable[..., None]) -> Callable[[], None]:
    """Wait until nothing runs, and check that this is by cancellation and leaves nothing held."""

    def wait() -> None:
        eventually(lambda: live.engine.stats().running + live.engine.stats().waiting == 0)
        assert live.engine.stats().cache.used_tokens == 0
        live.engine.audit()

    return wait


def aborted(live: Any) -> int:
    return int(live.engine.stats().requests_finished.get("abort", 0))


def test_life_leaving_a_stream_cancels_it(live: Any, idle: Callable[[], None]) -> None:
    """LIFE: the blocks come back, before the answer would have ended."""
    before = aborted(live)
    with (
        live.http() as http,
        http.stream("POST", "/v1/chat/completions", json=CHAT | {"stream": True}) as stream,
    ):
        next(stream.iter_lines())
    idle()
    assert aborted(live) == before + 1


def test_life_leaving_before_the_first_token_cancels_it_too(
    live: Any, idle: Callable[[], None]
) -> None:
    before = aborted(live)
    body = {**CHAT, "stream": True, "n": 4}
    with live.http() as http, http.stream("POST", "/v1/chat/completions", json=body):
        pass
    idle()
    assert aborted(live) > before


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/chat/completions", CHAT),
        ("/v1/completions", {"model": "tiny", "prompt": ["Hello", "Bye"], **LONG}),
    ],
)
def test_life_leaving_a_whole_answer_cancels_it(
    live: Any, idle: Callable[[], None], path: str, body: dict[str, Any]
) -> None:
    before = aborted(live)
    with live.http() as http, pytest.raises(httpx.ReadTimeout):
        http.post(path, json=body | {"n": 2}, timeout=0.2)
    idle()
    assert aborted(live) > before
    with live.http() as http:
        left = f'headstart_requests_total{{endpoint="{path}",status="499"}}'
        assert left in http.get("/metrics").text


def test_the_sdk_closing_its_stream_cancels_it(live: Any, idle: Callable[[], None]) -> None:
    before = aborted(live)
    stream = live.client().completions.create(
        model="tiny",
        prompt="Hello",
        stream=True,
        max_tokens=900,
        extra_body={"ignore_eos": True},
    )
    stream.response.close()
    idle()
    assert aborted(live) == before + 1


async def _never() -> Message:
    await asyncio.Event().wait()
    raise AssertionError


async def _gone() -> Message:
    return {"type": "http.disconnect"}


def test_work_that_ends_while_the_client_listens_gives_its_result() -> None:
    async def work() -> int:
        return 7

    assert asyncio.run(while_connected(_never, work())) == 7


def test_work_is_cancelled_and_cleaned_up_before_anybody_goes_on() -> None:
    cleaned = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            cleaned.append(True)

    with pytest.raises(ClientGone):
        asyncio.run(while_connected(_gone, work()))
    assert cleaned == [True]


def test_an_error_of_the_work_is_its_own() -> None:
    async def work() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError):
        asyncio.run(while_connected(_never, work()))


def test_a_stream_whose_client_left_before_it_began_is_closed_too() -> None:
    """LIFE: a generator that was never begun can't clean up; the response does."""
    closed, sent = [], []

    async def frames() -> AsyncIterator[bytes]:
        yield b"data: {}\n\n"

    async def close() -> None:
        closed.append(True)

    async def send(message: Message) -> None:
        sent.append(message)
        await asyncio.Event().wait()

    asyncio.run(EventStream(frames(), close, {})({"type": "http"}, _gone, send))
    assert closed == [True]
    assert [message["type"] for message in sent] == ["http.response.start"]
