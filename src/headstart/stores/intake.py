"""What a tier is given to write, and what it is refused. Pure: no clock, no threads.

What waits is bounded by what the tier writes in `QUEUE_SECONDS`, as measured: enough for a burst of
prefill, and little enough to be written within the time a shutdown has. One half of it is for
everybody; how much of the other half a chunk may fill depends on its *place*, from 0 at a prompt's
begin to 1 at its end. So when more comes than the tier can write, the queue fills to where the ends
of prompts are refused and their beginnings are not, and every prompt gets the same leading share
through: what goes down is what the tier can write, whatever is offered.
"""

from collections import OrderedDict

from headstart.cache.keys import BlockKey
from headstart.stores.pace import Pace

QUEUE_SECONDS = 5.0
UNMEASURED_QUEUE = 64 * 1024**2
"""Bytes, as long as nothing was measured."""
BY_PLACE = 0.5
"""Of the queue, that the ends of prompts may not fill."""
DECLINED_PAUSE = 1.0
"""Seconds that a tier which declined a chunk is offered none; and then one, until it takes it."""
KNOWN = 65_536
"""Chunks a tier is remembered to have been given; what is forgotten is offered once more."""


class Intake:
    """The books of one tier whose writes take `pace` per byte; never more than `most_bytes` wait.

    A chunk that was added is *known* until the tier declines it, or is found to have lost it.
    """

    def __init__(self, pace: Pace, *, most_bytes: int) -> None:
        self._pace = pace
        self._most_bytes = most_bytes
        self._known: OrderedDict[BlockKey, bool] = OrderedDict()
        """Whether it still waits."""
        self._next_try = float("-inf")
        self.chunks = 0
        """Waiting, or being written."""
        self.bytes = 0
        """Of them."""
        self.declines = False
        """The last chunk that the tier was given was declined."""

    @property
    def bound(self) -> int:
        """Bytes that may wait now."""
        per_byte = self._pace.seconds(1)
        return int(
            min(QUEUE_SECONDS / per_byte, self._most_bytes) if per_byte else UNMEASURED_QUEUE
        )

    def has_room(self, size: int, place: float, now: float) -> bool:
        """Whether a chunk of `size` bytes at `place` in its prompt may come.

        Where nothing waits, one of any size may.
        """
        if not self.chunks:
            return now >= self._next_try
        if self.declines or self.chunks >= KNOWN // 2:
            return False
        return self.bytes + size <= self.bound * (1 - BY_PLACE * place)

    def has(self, key: BlockKey) -> bool:
        """Whether the chunk is known."""
        return key in self._known

    def note(self, key: BlockKey, *, waits: bool = False) -> None:
        """The tier has the chunk, or will have it once it was written."""
        self._known[key] = waits or self._known.get(key, False)
        self._known.move_to_end(key)
        if len(self._known) > KNOWN:
            self._known.popitem(last=False)

    def lost(self, key: BlockKey) -> None:
        """The tier has the chunk no longer. What waits is on its way to it all the same."""
        if not self._known.get(key, True):
            del self._known[key]

    def add(self, key: BlockKey, size: int) -> None:
        """A chunk begins to wait."""
        self.note(key, waits=True)
        self.chunks += 1
        self.bytes += size

    def written(self, key: BlockKey, size: int) -> None:
        """The tier has taken a chunk that waited."""
        if key in self._known:
            self._known[key] = False
        self._leave(size)
        self.declines, self._next_try = False, float("-inf")

    def declined(self, key: BlockKey, size: int, now: float) -> None:
        """The tier hasn't taken it."""
        self.orphaned(key, size)
        self.declines, self._next_try = True, now + DECLINED_PAUSE

    def orphaned(self, key: BlockKey, size: int) -> None:
        """The tier wasn't asked, since it doesn't have the chunk that this one continues."""
        self._known.pop(key, None)
        self._leave(size)

    def _leave(self, size: int) -> None:
        self.chunks -= 1
        self.bytes -= size
