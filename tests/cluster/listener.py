"""A router's side: follows one server's events and keeps a picture of what it holds."""

import time
from collections.abc import Iterable
from typing import Any

import zmq
from tests.cluster.vllm_schema import BlockRemoved, BlockStored, decode

END = b"\xff" * 8
SECONDS = 5.0
"""How long a replay may take."""


class Listener:
    """Subscribes at once; `read` and `replay` bring the picture up to date."""

    def __init__(self, events: str, replay: str | None = None, *, topic: bytes = b"") -> None:
        self.blocks: dict[Any, Any] = {}
        """Hashes to their parents."""
        self.last = -1
        """Number of the last batch that is in the picture."""
        self.lost = False
        """A gap couldn't be replayed: the picture is wrong until there is a snapshot."""
        self.heard = 0
        """Batches that came while they were new."""
        self.frames: list[bytes] = []
        """Everything received."""
        self._context = zmq.Context()
        self._sub = self._context.socket(zmq.SUB)
        self._sub.subscribe(topic)
        self._sub.connect(events)
        self._replay = None if replay is None else self._context.socket(zmq.DEALER)
        if self._replay is not None and replay is not None:
            self._replay.connect(replay)

    def read(self, seconds: float = 0.05) -> None:
        """Take in what arrives until nothing has come for so long."""
        while self._sub.poll(int(seconds * 1000)):
            _, number, payload = self._receive(self._sub)
            seq = int.from_bytes(number, "big")
            if seq > self.last + 1 and self._replay is not None:
                self.replay()
            self.heard += seq > self.last
            self._apply(seq, payload)

    def replay(self) -> None:
        """Ask for all behind the last one known."""
        assert self._replay is not None
        self._replay.send_multipart([b"", (self.last + 1).to_bytes(8, "big")])
        deadline = time.monotonic() + SECONDS
        while self._replay.poll(max(0, int((deadline - time.monotonic()) * 1000))):
            *_, number, payload = self._receive(self._replay)
            if number == END:
                return
            self._apply(int.from_bytes(number, "big"), payload)
        raise AssertionError("the replay did not end")

    def catch_up(self) -> "Listener":
        """Whatever is new, by either way."""
        self.read()
        if self._replay is not None:
            self.replay()
        return self

    def start_over(self, snapshot: dict[str, Any]) -> None:
        """Take the picture from `/kv/snapshot`; what it includes already is skipped later."""
        self.blocks.clear()
        self.last, self.lost = snapshot["next_seq"] - 1, False
        for event in snapshot["events"]:
            self._store(event["block_hashes"], event["parent_block_hash"])

    def close(self) -> None:
        self._context.destroy(linger=0)

    def _receive(self, socket: Any) -> list[bytes]:
        frames: list[bytes] = socket.recv_multipart()
        self.frames += frames
        return frames

    def _apply(self, seq: int, payload: bytes) -> None:
        if seq <= self.last:
            return
        self.lost |= seq > self.last + 1
        self.last = seq
        if self.lost:
            return
        for event in decode(payload).events:
            match event:
                case BlockStored():
                    self._store(event.block_hashes, event.parent_block_hash)
                case BlockRemoved():
                    for gone in event.block_hashes:
                        del self.blocks[gone]
                    orphans = {*self.blocks.values()} & {*event.block_hashes}
                    assert not orphans, "a parent outlives its children"
                case _:
                    self.blocks.clear()

    def _store(self, hashes: Iterable[Any], parent: Any) -> None:
        for each in hashes:
            assert parent is None or parent in self.blocks, "parents come before children"
            assert each not in self.blocks, "stored twice"
            self.blocks[each] = parent
            parent = each
