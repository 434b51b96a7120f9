"""A store that never fails: whatever goes wrong below is a miss, counted by its reason."""

import logging
from collections.abc import Callable, Sequence
from threading import Lock
from typing import TypeVar

from headstart.cache.keys import BlockKey
from headstart.cache.visit import Visit
from headstart.stores.breaker import Breaker, Permit, State
from headstart.stores.counts import Counts
from headstart.stores.errors import CodecMissing, StoreError, Unfit
from headstart.stores.namespace import PersistentNamespace
from headstart.stores.protocol import Clock, Store, StoreStats
from headstart.stores.record import Record

logger = logging.getLogger(__name__)

Answer = TypeVar("Answer")


class Guarded:
    """`store` behind a breaker. A call that ends after its deadline failed, whatever it returned.

    A call whose deadline has passed before it starts is a miss and nobody's fault. The log gets one
    line when the breaker opens and one when it closes, not one per call.
    """

    def __init__(self, name: str, store: Store, breaker: Breaker, *, clock: Clock) -> None:
        self._name = name
        self._store = store
        self._breaker = breaker
        self._clock = clock
        self._lock = Lock()
        self._counts = Counts()

    @property
    def state(self) -> State:
        """The breaker's, for health and metrics."""
        return self._breaker.state

    def contains_many(
        self, namespace: PersistentNamespace, keys: Sequence[BlockKey], *, deadline: float
    ) -> list[bool]:
        """See Store. All False on any trouble."""
        return self._call(
            lambda: self._store.contains_many(namespace, keys, deadline=deadline),
            [False] * len(keys),
            deadline,
        )

    def get(
        self,
        namespace: PersistentNamespace,
        key: BlockKey,
        into: memoryview | None = None,
        *,
        deadline: float,
    ) -> Record | None:
        """See Store. None on any trouble; what comes verified but late is used all the same."""
        return self._call(
            lambda: self._store.get(namespace, key, into, deadline=deadline), None, deadline
        )

    def put(self, record: Record, *, deadline: float) -> bool:
        """See Store. False on any trouble."""
        return self._call(lambda: self._store.put(record, deadline=deadline), False, deadline)

    def delete(self, namespace: PersistentNamespace, key: BlockKey, *, deadline: float) -> None:
        """See Store. Nothing on any trouble."""
        self._call(lambda: self._store.delete(namespace, key, deadline=deadline), None, deadline)

    def used(self, keys: Sequence[BlockKey], reused: int, visit: Visit) -> None:
        """See Store. No I/O, so nothing to guard."""
        self._store.used(keys, reused, visit)

    def stats(self) -> StoreStats:
        """The store's, with what was refused or went wrong here."""
        inner = self._store.stats()
        counts = self._counts.snapshot()
        for reason, count in inner.counts.items():
            counts[reason] = counts.get(reason, 0) + count
        return StoreStats(
            chunks=inner.chunks, bytes=inner.bytes, capacity=inner.capacity, counts=counts
        )

    def close(self) -> None:
        """See Store."""
        self._store.close()

    def _call(self, call: Callable[[], Answer], otherwise: Answer, deadline: float) -> Answer:
        if self._clock() >= deadline:
            self._counts.add("no_time")
            return otherwise
        with self._lock:
            permit = self._breaker.admit(self._clock())
        if permit is None:
            self._counts.add("breaker_open")
            return otherwise
        answer, failure = otherwise, ""
        try:
            answer = call()
        except (Unfit, CodecMissing) as error:  # the store did its part
            self._counts.add(error.reason)
        except StoreError as error:
            failure = f"{error.reason}: {error}"
            self._counts.add(error.reason)
        except Exception as error:  # a mistake in a store or its caller is no reason to fail either
            failure = repr(error)
            self._counts.add("error")
            logger.warning("the %s store raised", self._name, exc_info=True)
        if not failure and self._clock() >= deadline:
            failure = "slow"
            self._counts.add("slow")
        self._report(permit, failure)
        return answer

    def _report(self, permit: Permit, failure: str) -> None:
        with self._lock:
            before = self._breaker.state
            if failure:
                self._breaker.failed(permit, self._clock())
            else:
                self._breaker.succeeded(permit)
            after = self._breaker.state
        if before is not after and after is State.CLOSED:
            logger.warning("the %s store is used again", self._name)
        elif before is State.CLOSED and after is State.OPEN:
            logger.warning("the %s store is left alone for a while: %s", self._name, failure)
