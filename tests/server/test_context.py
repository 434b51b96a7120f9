"""Where work is done: small bodies on the event loop, large ones beside it."""

import asyncio
import threading

import pytest

from headstart.server.context import INLINE_BYTES, offload


@pytest.mark.parametrize(("size", "here"), [(0, True), (INLINE_BYTES, True), (10**6, False)])
def test_only_large_bodies_leave_the_event_loop(size: int, here: bool) -> None:
    thread = asyncio.run(offload(b"x" * size, threading.get_ident))
    assert (thread == threading.get_ident()) is here


def test_the_event_loop_goes_on_while_a_large_body_is_worked_on() -> None:
    begun, go_on = threading.Event(), threading.Event()

    def work() -> str:
        begun.set()
        assert go_on.wait(10)
        return "done"

    async def both() -> str:
        working = asyncio.create_task(offload(b"x" * 10**6, work))
        while not begun.is_set():
            await asyncio.sleep(0)
        go_on.set()
        return await working

    assert asyncio.run(both()) == "done"


def test_errors_of_the_work_come_back() -> None:
    def work() -> None:
        raise KeyError("x")

    for body in (b"", b"x" * 10**6):
        with pytest.raises(KeyError):
            asyncio.run(offload(body, work))
