"""What names an engine's KV, and which namespace a request belongs to."""

from dataclasses import dataclass

from headstart.cache import Namespace


@dataclass(frozen=True, slots=True)
class Identity:
    """What names this engine's KV besides tokens, tenant, salt and adapter."""

    weights: bytes
    dtype: str
    layout: str
    rope: str
    block_size: int

    def namespace(self, tenant: str, salt: str | None, adapter: bytes | None) -> Namespace:
        """Where KV of such requests is found. `adapter`: its digest; None is the base model."""
        return Namespace(
            weights=self.weights,
            adapter=adapter,
            tenant=tenant,
            salt=salt,
            dtype=self.dtype,
            layout=self.layout,
            rope=self.rope,
            block_size=self.block_size,
        )

    def names(self, space: Namespace) -> bool:
        """Whether KV of that namespace is this engine's, for whatever tenant and adapter."""
        return space == self.namespace(space.tenant, space.salt, space.adapter)
