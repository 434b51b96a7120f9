"""What a running headstart server says of its model and its KV memory."""

from dataclasses import dataclass

import httpx
import msgspec

from headstart.insight.http import explain, headers, is_remote
from headstart.insight.wire import EndpointError, error_message, first_model

SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Served:
    """As told by `GET /v1/models` and `GET /cache`."""

    url: str
    model: str
    block_size: int
    capacity_tokens: int
    """Positions that its KV pool holds."""
    kv_bytes: int
    """Memory of that pool."""


class _Cache(msgspec.Struct):
    block_size: int
    capacity_tokens: int
    kv_bytes: int


def ask(url: str, api_key: str | None) -> Served:
    """Two requests to the server at `url` (with or without `/v1`). Raises EndpointError."""
    root = url.rstrip("/").removesuffix("/v1")
    try:
        with httpx.Client(
            timeout=SECONDS, headers=headers(api_key), trust_env=is_remote(root)
        ) as client:
            models, cache = client.get(f"{root}/v1/models"), client.get(f"{root}/cache")
    except (httpx.InvalidURL, ValueError) as error:
        raise EndpointError(f"{url} is no URL: {error}") from error
    except httpx.HTTPError as error:
        raise explain(error, root) from error
    for answer in (models, cache):
        if answer.status_code != 200:
            told = error_message(answer.content)
            raise EndpointError(f"{answer.url} answers {answer.status_code}: {told}")
    try:
        held = msgspec.json.decode(cache.content, type=_Cache)
    except msgspec.MsgspecError as error:
        raise EndpointError(f"{root}/cache is not headstart's: {error}") from error
    return Served(
        root,
        first_model(models.content),
        held.block_size,
        held.capacity_tokens,
        held.kv_bytes,
    )
