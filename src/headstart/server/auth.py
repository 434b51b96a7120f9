"""Who is asking. The tenant comes from the credential, never from the body."""

import hmac
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from starlette.requests import Request

from headstart.dialects.errors import ApiError
from headstart.settings import Settings


@dataclass(frozen=True, slots=True)
class Caller:
    """A tenant, and whether it may look at and reset what all tenants share."""

    tenant: str
    operator: bool
    key: str = field(default="", compare=False)
    """What the ledger calls the key; nothing of the key itself can be told from it."""


ANYONE = Caller(tenant="", operator=True)
"""Everybody, where no key is configured."""


LABEL_DIGITS = 8


class KeysFileError(Exception):
    """The keys file can't be read as `key tenant` lines."""


@dataclass(frozen=True, slots=True)
class Keyring:
    """The known keys, as digests: comparing those tells nothing about the keys by its timing."""

    callers: Sequence[tuple[bytes, Caller]]

    def authenticate(self, authorization: str | None) -> Caller:
        """The caller behind an `Authorization` header. Raises ApiError 401."""
        if not self.callers:
            return ANYONE
        scheme, _, key = (authorization or "").partition(" ")
        if scheme.lower() != "bearer" or not key:
            raise _unauthorized("You didn't provide an API key: send 'Authorization: Bearer KEY'.")
        digest = _digest(key.strip())
        found = [caller for known, caller in self.callers if hmac.compare_digest(known, digest)]
        if not found:
            raise _unauthorized("Incorrect API key provided.")
        return found[0]

    def operator(self, authorization: str | None) -> Caller:
        """Like `authenticate`, but a tenant's key isn't enough. Raises ApiError 401 or 403."""
        caller = self.authenticate(authorization)
        if not caller.operator:
            message = "This shows or changes what all tenants share: it needs the operator's key."
            raise ApiError(403, message, code="insufficient_permissions")
        return caller


def credential(request: Request) -> str | None:
    """The `Authorization` header, or what Anthropic's and Google's clients send in its place."""
    given = request.headers.get("authorization")
    if given is not None:
        return given
    headers = (request.headers.get(name) for name in ("x-api-key", "x-goog-api-key"))
    key = next((key for key in headers if key), request.query_params.get("key"))
    return None if key is None else f"Bearer {key}"


def load_keyring(settings: Settings) -> Keyring:
    """The operator's key and the tenants' keys. Raises KeysFileError naming the line at fault."""
    callers = []
    if settings.api_key is not None:
        callers.append(_entry(settings.api_key, "", operator=True))
    if settings.api_keys_file is not None:
        callers.extend(_tenants(Path(settings.api_keys_file)))
    if len({digest for digest, _ in callers}) != len(callers):
        raise KeysFileError("An API key is given twice: every key belongs to one tenant.")
    return Keyring(callers)


def _tenants(path: Path) -> list[tuple[bytes, Caller]]:
    try:
        lines = path.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise KeysFileError(f"Can't read the API keys file {path}: {error}.") from error
    callers = []
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        words = line.split()
        if len(words) != 2:
            raise KeysFileError(f"{path}, line {number}: expected 'key tenant'.")
        callers.append(_entry(words[0], words[1], operator=False))
    if not callers:
        raise KeysFileError(f"{path} holds no key: add lines 'key tenant'.")
    return callers


def _entry(key: str, tenant: str, *, operator: bool) -> tuple[bytes, Caller]:
    digest = _digest(key)
    return digest, Caller(tenant, operator, sha256(digest).hexdigest()[:LABEL_DIGITS])


def _digest(key: str) -> bytes:
    return sha256(key.encode()).digest()


def _unauthorized(message: str) -> ApiError:
    return ApiError(401, message, code="invalid_api_key")
