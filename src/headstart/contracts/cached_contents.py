"""Gemini's `cachedContents`: prompts that are computed once and kept until a time.

A pure state machine: rules G4 to G10, statuses and texts of the vendor. What a resource holds is
opaque to it, and so is the clock.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from headstart.contracts.contract import Refusal

Body = TypeVar("Body")

HOUR = 3600.0
MOST_DIGITS = 20
"""Of a page token; of thousands Python makes no number."""


@dataclass(frozen=True, slots=True)
class CachedContent(Generic[Body]):
    """One resource. Times are seconds on the caller's clock."""

    name: str
    """`cachedContents/…`"""
    owner: str
    model: str
    """`models/…`; the only one that may use it."""
    tokens: int
    body: Body
    created: float
    updated: float
    expires: float
    display_name: str = ""


@dataclass(frozen=True, slots=True)
class Storage:
    """What a resource took of one hour of the clock, as far as that has passed."""

    owner: str
    name: str
    model: str
    since: float
    """When in this hour its being held began."""
    token_seconds: int
    added: int
    """Of them, those that were not told before."""


@dataclass(slots=True)
class _Held(Generic[Body]):
    content: CachedContent[Body]
    serial: int
    billed: float
    """Its storage is told up to this time."""
    ready: bool = False

    def bill(self, now: float) -> Iterator[Storage]:
        content, end = self.content, min(now, self.content.expires)
        if not self.ready:
            return
        while self.billed < end:
            hour = self.billed // HOUR * HOUR
            since, until = max(content.created, hour), min(end, hour + HOUR)
            told, whole = (round(content.tokens * (at - since)) for at in (self.billed, until))
            self.billed = until
            if whole > told:
                yield Storage(
                    content.owner, content.name, content.model, since, whole, whole - told
                )


@dataclass(slots=True)
class CachedContents(Generic[Body]):
    """All resources of all owners. An owner sees its own only."""

    seconds: float = HOUR
    """Of life where the request says nothing (G4)."""
    page: int = 50
    """Resources in a list where the request says nothing."""
    most_page: int = 1000
    _held: dict[str, _Held[Body]] = field(default_factory=dict)
    _ended: list[Storage] = field(default_factory=list)
    _serial: int = 0

    def create(
        self,
        name: str,
        body: Body,
        *,
        owner: str,
        model: str,
        tokens: int,
        minimum: int,
        now: float,
        ttl: float | None = None,
        expires: float | None = None,
        display_name: str = "",
    ) -> CachedContent[Body]:
        """Keep `body` under a name that nobody has. `minimum`: of the model (G5).

        Nothing is due for it until it is `ready`. Raises Refusal if it is too small or its end is
        misplaced.
        """
        if tokens < minimum:
            raise _invalid(
                f"Cached content is too small. total_token_count={tokens}, "
                f"min_total_token_count={minimum}"
            )
        if name in self._held:
            raise ValueError(f"{name} exists")
        until = _end(ttl, expires, now)
        content = CachedContent(
            name,
            owner,
            model,
            tokens,
            body,
            created=now,
            updated=now,
            expires=now + self.seconds if until is None else until,
            display_name=display_name,
        )
        self._serial += 1
        self._held[name] = _Held(content, self._serial, billed=now)
        return content

    def ready(self, name: str) -> None:
        """It is computed: its storage is due, from its creation on."""
        if name in self._held:
            self._held[name].ready = True

    def get(self, name: str, *, owner: str, now: float) -> CachedContent[Body]:
        """Raises Refusal, always the same, for what is unknown, over, deleted or another's (G8)."""
        held = self._held.get(name)
        if held is None or held.content.owner != owner or held.content.expires <= now:
            raise Refusal(
                "CachedContent not found (or permission denied)",
                code="PERMISSION_DENIED",
                status=403,
            )
        return held.content

    def use(self, name: str, *, owner: str, model: str, now: float) -> CachedContent[Body]:
        """For a request that names it. Its time goes on as before (G4).

        Raises Refusal also if the request is for another model (G8).
        """
        content = self.get(name, owner=owner, now=now)
        if content.model != model:
            raise _invalid(
                f"Model used by GenerateContent request ({model}) and CachedContent "
                f"({content.model}) has to be the same."
            )
        return content

    def listing(
        self, *, owner: str, now: float, page_size: int | None = None, page_token: str | None = None
    ) -> tuple[list[CachedContent[Body]], str | None]:
        """A page of what lives, oldest first, and the token of the next. Raises Refusal."""
        if page_size is not None and page_size < 0:
            raise _invalid("page_size must not be negative")
        if page_token and not (page_token.isdecimal() and len(page_token) < MOST_DIGITS):
            raise _invalid("page_token is invalid")
        size = min(page_size or self.page, self.most_page)
        after = int(page_token) if page_token else 0
        page: list[_Held[Body]] = []
        for held in self._living(owner, now):
            if held.serial > after:
                if len(page) == size:
                    return [held.content for held in page], str(page[-1].serial)
                page.append(held)
        return [held.content for held in page], None

    def patch(
        self,
        name: str,
        *,
        owner: str,
        now: float,
        ttl: float | None = None,
        expires: float | None = None,
    ) -> CachedContent[Body]:
        """Move its end, the only thing that can be changed (G4). Raises Refusal."""
        content = self.get(name, owner=owner, now=now)
        until = _end(ttl, expires, now)
        if until is None:
            return content
        held = self._held[name]
        held.content = replace(content, updated=now, expires=until)
        return held.content

    def delete(self, name: str, *, owner: str, now: float) -> None:
        """Raises Refusal."""
        self.get(name, owner=owner, now=now)
        self._ended += self._held.pop(name).bill(now)

    def collect(self, now: float) -> Iterator[Storage]:
        """The hours in which anything was held since the last call (G9). What is over is forgotten.

        Hours begin with the clock's: an hour's price and its place in a report are one. It may be
        left off anywhere: what was not told yet is told the next time.
        """
        while self._ended:
            yield self._ended.pop()
        for held in [*self._held.values()]:
            yield from held.bill(now)
            if held.content.expires <= now:
                self._held.pop(held.content.name, None)

    def _living(self, owner: str, now: float) -> Iterator[_Held[Body]]:
        for held in self._held.values():
            if held.content.owner == owner and held.content.expires > now:
                yield held


def _end(ttl: float | None, expires: float | None, now: float) -> float | None:
    """When it ends; None if nothing is said."""
    if ttl is not None and expires is not None:
        raise _invalid(
            "Invalid value at 'cached_content' (oneof), oneof field 'expiration' is already set. "
            "Cannot set 'ttl'"
        )
    if ttl is not None:
        expires = now + ttl
    if expires is not None and expires <= now:
        raise _invalid("CachedContent must expire in the future.")
    return expires


def _invalid(message: str) -> Refusal:
    return Refusal(message, code="INVALID_ARGUMENT")
