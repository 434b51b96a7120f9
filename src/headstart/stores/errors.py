"""What can go wrong below the pool. None of it may reach a request: `Guarded` makes it a miss."""

from typing import ClassVar


class StoreError(Exception):
    """A store could not do what was asked."""

    reason: ClassVar[str] = "error"
    """The name it is counted under."""


class Late(StoreError):
    """The call's deadline passed."""

    reason = "late"


class Unavailable(StoreError):
    """The disk or the server can't be used, or the server talks nonsense."""

    reason = "unavailable"


class Refused(StoreError):
    """A server answered with an error; `code` is its first word, as OOM or READONLY."""

    reason = "refused"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.code = message.partition(" ")[0]


class Full(StoreError):
    """No room, and none to be made."""

    reason = "full"


class ReadOnly(StoreError):
    """Reading may work, writing isn't permitted."""

    reason = "read_only"


class CodecMissing(StoreError):
    """The record is good, but the library that unpacks it is not installed here."""

    reason = "codec_missing"


class Unfit(StoreError):
    """The record is good, but its payload doesn't have the length of the buffer given for it."""

    reason = "unfit"


class RecordError(StoreError):
    """Bytes that must not be used."""


class Truncated(RecordError):
    """The bytes end before the record does."""

    reason = "truncated"


class Corrupt(RecordError):
    """A checksum, a length or the key says that the bytes are not what was written."""

    reason = "corrupt"


class Foreign(RecordError):
    """A whole record, but of another namespace or another key than asked for."""

    reason = "foreign"


class WrongVersion(RecordError):
    """Written in a format that this release does not know."""

    reason = "wrong_version"


class Unpersistable(ValueError):
    """The namespace doesn't say whose KV it is, so its KV must not outlive the process."""
