"""Give up what is least worth its room: the chance of a return per second of waiting.

A session's path is one unit: it comes back as a whole, with the session's next request. So are a
node that several sessions share, and a branch that its session has left (superseded, by an edited
history). How likely and how soon each returns is learned online per class (`hazard.py`): sessions
by why their last answer ended, how many turns they had and how much of the last prompt was new;
shared nodes by their uses. Time counts in learned gaps, so a trace at ten times the speed is
treated alike. All blocks of a unit save equal work, so their number cancels.

Sessions are named by the client or told by where their last request ended (`sessions.py`).
"""

import math
from collections.abc import Hashable, Iterator
from heapq import heapify, heappop, heappush
from itertools import islice
from operator import itemgetter
from typing import ClassVar

from headstart.cache.keys import BlockKey
from headstart.cache.node import Node, Root
from headstart.cache.policies.hazard import BINS, EDGES, Returns, bin_of
from headstart.cache.policies.sessions import Gaps, Mean, Session, Sessions, Unit
from headstart.cache.visit import Visit

SHORTEST_GAP = 1e-3
REPRICE_EVERY = 64
"""Requests after which all prices are worked out anew; while little is known, after each."""
LITTLE = 256
MOST_TIMERS = 4096

ANYONE = object()
"""Owner of what a second session has used."""


class _Note:
    """What the policy knows of a node."""

    __slots__ = ("last", "owner", "request", "unit", "uses")

    def __init__(self) -> None:
        self.owner: Hashable = None
        self.last = 0.0
        self.request = -1
        self.uses = 1
        self.unit: Unit | None = None


class Worth:
    """The `worth` policy. O(log n) per event, and O(nodes on its path) when a request ends.

    Every REPRICE_EVERY requests all classes and leaves are priced anew: O(classes + leaves).
    """

    name: ClassVar[str] = "worth"

    def __init__(self) -> None:
        self._sessions = Sessions()
        self._gaps = Gaps()
        self._shared_gap = Mean()
        self._classes: dict[tuple[Hashable, ...], Returns] = {}
        self._timers: list[tuple[float, int, Unit]] = []
        self._most_timers = MOST_TIMERS
        """Beyond it those of units that wait no longer are dropped."""
        self._leaves: list[tuple[float, int, Node]] = []
        self._prices: dict[Node, tuple[float, int]] = {}
        self._serial = 0
        self._requests = 0
        self._now = 0.0

    def __len__(self) -> int:
        """Leaves on offer."""
        return len(self._prices)

    def published(self, node: Node, blocks: int) -> None:
        """Whose it is shows when the request ends."""
        if node.note is None:
            node.note = _Note()

    def split(self, upper: Node, lower: Node) -> None:
        """Both are what they were as one; only the lower part can return by itself."""
        note, old = _Note(), _note(lower)
        note.owner, note.last, note.request, note.uses = old.owner, old.last, old.request, old.uses
        upper.note = note

    def reused(self, node: Node) -> None:
        """Who reuses it shows when the request ends."""

    def ended(self, node: Node, visit: Visit) -> None:
        """A request is over: what it used has returned, and starts to wait anew."""
        self._advance(visit.now)
        path = list(_path(node))
        new_blocks = -(-(visit.new_tokens + visit.output_tokens) * node.end // _tokens(visit))
        name, goes_on = self._sessions.find(
            visit.session, islice(_keys_backwards(path), new_blocks + 2)
        )
        session = self._sessions.begin(name)
        if session.unit is not None:
            share = 1.0 if goes_on else _share_kept(session, name, path)
            self._returned(session.unit, share)
            self._gaps.learn(session, _log_gap(self._now - session.last))
            self._supersede(session, name, path)
        for at in path:
            self._use(at, name)
        self._wait_for(session, visit)
        for at in path:
            note = _note(at)
            note.last, note.request = self._now, self._requests
        session.end, session.depth = node, node.end
        session.last, session.request = self._now, self._requests
        # The last block may have been part full, so that its key changes when the session goes on.
        # A path's first block tells nobody apart.
        ends = islice(_keys_backwards(path), min(2, max(0, node.end - 1)))
        self._sessions.ended(name, session, tuple(ends))
        if self._requests % REPRICE_EVERY == 0 or self._requests < LITTLE:
            self._reprice()
        self._requests += 1

    def offer(self, leaf: Node) -> None:
        """Price it at what it is worth now."""
        leaf.offered = True
        self._serial += 1
        unit = self._unit(leaf)
        if unit is not None:
            unit.leaf = leaf
        self._prices[leaf] = price = (self._worth(unit), self._serial)
        heappush(self._leaves, (*price, leaf))
        if len(self._leaves) > 2 * len(self._prices) + 64:
            self._sort()

    def withdraw(self, leaf: Node) -> None:
        """Its entry is dropped when it is met."""
        if self._prices.pop(leaf, None) is not None:
            leaf.offered = False

    def victim(self) -> Node:
        """The cheapest leaf."""
        while self._prices.get(self._leaves[0][2]) != self._leaves[0][:2]:
            heappop(self._leaves)
        return self._leaves[0][2]

    def evicted(self, leaf: Node, blocks: int) -> None:
        """A session's return is waited for all the same; that of a lone node is not."""
        if blocks < len(leaf.blocks):
            return
        note = _note(leaf)
        if note.unit is not None:
            note.unit.waiting = False
        session = self._sessions.get(note.owner)
        if session is not None and session.end is leaf:
            session.end = leaf.parent

    def clear(self) -> None:
        """Nothing is on offer; what was learned stays."""
        for leaf in self._prices:
            leaf.offered = False
        self._prices.clear()
        self._leaves.clear()

    def _worth(self, unit: Unit | None) -> float:
        if unit is None:
            return 0.0
        return unit.kind.worth[bin_of((self._now - unit.since) / unit.scale)] / unit.scale

    def _unit(self, node: Node) -> Unit | None:
        """What its return depends on: its session's, or its own."""
        note = _note(node)
        session = self._sessions.get(note.owner)
        if session is None or (note.unit is not None and session.request != note.request):
            return note.unit
        return session.unit

    def _class(self, *key: Hashable) -> Returns:
        found = self._classes.get(key)
        if found is None:
            parent = self._class(*key[:-1]) if key else None
            found = self._classes[key] = Returns(parent)
        return found

    def _waiting(self, kind: Returns, scale: float) -> Unit:
        unit = Unit(kind, scale, self._now)
        kind.entered(0)
        self._arm(unit)
        return unit

    def _arm(self, unit: Unit) -> None:
        if unit.at + 1 < BINS:
            self._serial += 1
            due = unit.since + unit.scale * EDGES[unit.at + 1]
            heappush(self._timers, (due, self._serial, unit))
            if len(self._timers) > self._most_timers:
                self._timers = [timer for timer in self._timers if timer[2].waiting]
                heapify(self._timers)
                self._most_timers = max(MOST_TIMERS, 2 * len(self._timers))

    def _advance(self, now: float) -> None:
        """Let everything that waits grow older."""
        self._now = now = max(self._now, now)
        timers = self._timers
        older: list[tuple[float, int, Node]] = []
        while timers and timers[0][0] <= now:
            due, serial, unit = heappop(timers)
            if not unit.waiting:
                continue
            since, scale, at, entered = unit.since, unit.scale, unit.at, unit.kind.entered
            last = due
            while due <= now:  # Through all bins that it has passed, not one timer for each.
                at += 1
                entered(at)
                last = due
                if at + 1 == BINS:
                    break
                due = since + scale * EDGES[at + 1]
            else:
                self._serial += 1
                heappush(timers, (due, self._serial, unit))
            unit.at = at
            if unit.leaf is not None:
                older.append((last, serial, unit.leaf))
        older.sort(key=itemgetter(0, 1))  # As their last timers would have told.
        for _, _, leaf in older:
            if leaf in self._prices:
                self.offer(leaf)

    def _returned(self, unit: Unit | None, share: float = 1.0) -> None:
        if unit is not None and unit.waiting:
            unit.kind.returned(unit.at, share)
            unit.waiting = False

    def _supersede(self, session: Session, name: Hashable, path: list[Node]) -> None:
        """What the session's last request used and this one doesn't is a dead branch."""
        node, used = session.end, set(path)
        while node is not None and node not in used and _note(node).owner == name:
            note = _note(node)
            if note.request == session.request:
                scale = math.exp(session.expected + session.habit)
                note.unit = self._waiting(self._class("superseded"), scale)
                if node in self._prices:
                    self.offer(node)
            node = node.parent

    def _use(self, node: Node, name: Hashable) -> None:
        note = _note(node)
        if note.owner is None or note.owner == name:
            self._returned(note.unit)
            note.owner, note.unit = name, None
            return
        note.owner = ANYONE
        self._returned(note.unit)
        if self._now > note.last:
            self._shared_gap.add(_log_gap(self._now - note.last))
        note.uses += 1
        mean = self._shared_gap if self._shared_gap.count else self._gaps.all
        kind = self._class("shared", min(3, int(math.log2(note.uses))))
        note.unit = self._waiting(kind, math.exp(mean.value))

    def _wait_for(self, session: Session, visit: Visit) -> None:
        """Expect the session's next request."""
        known = session.size if session.turns else visit.prompt_tokens - visit.new_tokens
        session.turns += 1
        session.size = visit.prompt_tokens + visit.output_tokens
        scale = math.exp(self._gaps.expect(session, visit.stop, visit.output_tokens))
        turn = min(4, int(math.log2(session.turns)))
        new = (visit.prompt_tokens - known) / max(1, visit.prompt_tokens)
        kind = self._class("session", visit.stop, turn, max(0, min(7, int(4 * new))))
        if visit.ended:
            session.unit = None
        elif visit.expected_gap is not None:
            kind = self._class("session", "expected")
            session.unit = self._waiting(kind, max(visit.expected_gap, SHORTEST_GAP))
        else:
            session.unit = self._waiting(kind, scale)

    def _reprice(self) -> None:
        """Learn from the counts so far."""
        # Parents were made before their children.
        for kind in self._classes.values():
            kind.rebuild()
        self._prices = {
            leaf: (self._worth(self._unit(leaf)), n) for leaf, (_, n) in self._prices.items()
        }
        self._sort()

    def _sort(self) -> None:
        self._leaves = [(*price, leaf) for leaf, price in self._prices.items()]
        heapify(self._leaves)


def _note(node: Node) -> _Note:
    if node.note is None:
        node.note = _Note()
    note: _Note = node.note
    return note


def _path(node: Node) -> Iterator[Node]:
    at: Node | None = node
    while at is not None:
        if not isinstance(at, Root):
            yield at
        at = at.parent


def _keys_backwards(path: list[Node]) -> Iterator[BlockKey]:
    for node in path:
        yield from reversed(node.keys)


def _tokens(visit: Visit) -> int:
    return max(1, visit.prompt_tokens + visit.output_tokens)


def _share_kept(session: Session, name: Hashable, path: list[Node]) -> float:
    """How much of the session's last path this request uses, as far as that is still there."""
    for node in path:
        note = _note(node)
        if note.request == session.request and note.owner in (name, ANYONE):
            return min(1.0, node.end / max(1, session.depth))
    return 0.0


def _log_gap(seconds: float) -> float:
    return math.log(max(seconds, SHORTEST_GAP))
