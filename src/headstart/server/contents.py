"""The `cachedContents` of all tenants, and the KV that is held for them."""

from array import array
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

from headstart.contracts.cached_contents import CachedContent, CachedContents, Storage
from headstart.dialects.errors import ApiError
from headstart.dialects.gemini.cached import Create, End
from headstart.dialects.gemini.prompt import PromptFields
from headstart.engine.api import Engine, InvalidRequest
from headstart.ledger import Account, Row
from headstart.server.books import Books
from headstart.server.settlement import RETENTION_PRIORITY
from headstart.server.terms import AllTerms

MOST = 1000
"""Resources of one tenant; each may hold a pin."""


PIECE = 100
"""Resources whose storage is written down in one go, which takes a few milliseconds."""


@dataclass(frozen=True, slots=True)
class Body:
    """What is cached: as it was sent, and its tokens."""

    prompt: PromptFields
    ids: "array[int]"
    adapter: str | None


Content = CachedContent[Body]


class Contents:
    """Resources, which a contract rules, and one pin for all of a tenant's that say the same.

    Memory may be short all the same: then what is gone is computed again by the next request that
    names the resource, which says so in its bill, and is held from then on.
    """

    def __init__(self, engine: Engine, terms: AllTerms, books: Books) -> None:
        self._engine = engine
        self._terms = terms
        self._books = books
        self._contracts = CachedContents[Body](most_page=MOST)

    def create(
        self, name: str, asked: Create, body: Body, *, owner: str, minimum: int, now: float
    ) -> Content:
        """A resource whose KV isn't there yet. Raises Refusal, and ApiError 429 beyond MOST."""
        self.bill(now)
        if len(self._living(owner, now)) >= MOST:
            message = f"{MOST} cached contents exist already: delete some, or let them expire."
            raise ApiError(429, message)
        return self._contracts.create(
            name,
            body,
            owner=owner,
            model=f"models/{asked.model}",
            tokens=len(body.ids),
            minimum=minimum,
            now=now,
            ttl=asked.end.ttl,
            expires=asked.end.expires,
            display_name=asked.display_name,
        )

    def ready(self, content: Content, now: float) -> None:
        """Its KV is there: keep it to its end. Raises ApiError 429 as `hold` does."""
        self.hold(content, now)
        self._contracts.ready(content.name)

    def get(self, name: str, *, owner: str, now: float) -> Content:
        """Raises Refusal."""
        return self._contracts.get(name, owner=owner, now=now)

    def use(self, name: str, model: str, *, owner: str, now: float) -> Content:
        """For a request for `model`; any thread may ask. Raises Refusal."""
        return self._contracts.use(name, owner=owner, model=model, now=now)

    def seconds(self, content: Content, now: float) -> float:
        """How long its KV is held from now on: to the end of the last that says the same."""
        return max(each.expires for each in (content, *self._twins(content, now))) - now

    def listing(
        self, *, owner: str, now: float, size: int | None, token: str | None
    ) -> tuple[list[Content], str | None]:
        """A page, and the next one's token. Raises Refusal."""
        return self._contracts.listing(owner=owner, now=now, page_size=size, page_token=token)

    def move(self, name: str, end: End, *, owner: str, now: float) -> Content:
        """Let it end at another time. Raises Refusal."""
        self.bill(now)
        content = self._contracts.patch(
            name, owner=owner, now=now, ttl=end.ttl, expires=end.expires
        )
        self.hold(content, now)
        return content

    def delete(self, name: str, *, owner: str, now: float) -> None:
        """Raises Refusal. Its KV is ordinary from now on, if no other resource has it."""
        content = self._contracts.get(name, owner=owner, now=now)
        self._contracts.delete(name, owner=owner, now=now)
        self.bill(now)
        twin = next(self._twins(content, now), None)
        if twin is not None:
            self.hold(twin, now)
        else:
            self._release(content)

    def bill(self, now: float) -> None:
        """Write down what was stored since the last time, and forget what is over (rule G9)."""
        for _ in self.bill_by_pieces(now):
            pass

    def bill_by_pieces(self, now: float) -> Iterator[None]:
        """Do so a piece at a time, for whoever has other things to do in between."""
        held = self._contracts.collect(now)
        while piece := list(islice(held, PIECE)):
            self._books.add_storage([(self._row(storage), storage.added) for storage in piece])
            yield

    def hold(self, content: Content, now: float) -> None:
        """Keep its KV to its end. Raises ApiError 429 where the tenant's budget has no room."""
        try:
            self._pin(content, self.seconds(content, now))
        except InvalidRequest as error:
            raise ApiError(429, f"Cached contents take too much memory: {error}") from error

    def _row(self, storage: Storage) -> Row:
        model = storage.model.removeprefix("models/")
        return Row(
            time=storage.since,
            request=storage.name,
            tenant=storage.owner,
            key="",
            model=model,
            contract=self._terms.of(model, "gemini").name,
            dialect="gemini.storage",
            account=Account(0, 0, token_seconds=storage.token_seconds),
            reused=0,
        )

    def _release(self, content: Content) -> None:
        """Let its pin go, if it has one: a prefix that is pinned again is one pin."""
        with suppress(InvalidRequest):  # Over the budget: there is none.
            number = self._pin(content, 1.0)
            if number is not None:
                self._engine.unpin(content.owner, number)

    def _pin(self, content: Content, seconds: float) -> int | None:
        body = content.body
        pinned = self._engine.pin(
            body.ids,
            tenant=content.owner,
            salt=None,
            adapter=body.adapter,
            ttl=seconds,
            priority=RETENTION_PRIORITY,
        )
        return None if pinned is None else pinned.id

    def _twins(self, content: Content, now: float) -> Iterator[Content]:
        body = content.body
        for other in self._living(content.owner, now):
            same = other.body.adapter == body.adapter and other.body.ids == body.ids
            if same and other.name != content.name:
                yield other

    def _living(self, owner: str, now: float) -> list[Content]:
        page, _ = self._contracts.listing(owner=owner, now=now, page_size=MOST)
        return page
