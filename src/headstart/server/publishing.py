"""KV events from the engine to the network."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from headstart.cluster.errors import CannotPublish
from headstart.cluster.kv_events import Wire
from headstart.engine.events import EventSource, KVSource
from headstart.settings import Settings


def wire(settings: Settings, source: KVSource) -> Wire:
    """How this server writes its events."""
    return Wire(
        medium=source.medium,
        adapters=source.adapters,
        hashes=settings.kv_events_hashes,
        private=not settings.kv_events_tokens,
    )


@contextmanager
def publishing(settings: Settings) -> Iterator[Callable[[EventSource], None]]:
    """Claim the addresses; yields what sends an engine's events there. Raises CannotPublish."""
    if settings.kv_events is None:
        if settings.kv_events_replay is not None:
            raise CannotPublish("--kv-events-replay needs --kv-events: the events to replay.")
        yield lambda _: None
        return
    try:
        from headstart.cluster.publisher import Publisher
        from headstart.cluster.sockets import Sockets, claim
    except ModuleNotFoundError as error:
        needs = "--kv-events needs pyzmq: pip install 'headstart[cluster]'."
        raise CannotPublish(needs) from error
    owner: Sockets | Publisher = claim(settings.kv_events, settings.kv_events_replay)

    def publish(source: EventSource) -> None:
        nonlocal owner
        assert isinstance(owner, Sockets), "one engine at an address"
        owner = publisher = Publisher(
            owner, wire(settings, source.kv_source), topic=settings.kv_events_topic
        )
        source.follow(publisher)

    try:
        yield publish
    finally:
        owner.close()
