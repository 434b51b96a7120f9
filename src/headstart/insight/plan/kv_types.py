"""In which form engines keep keys and values."""

from dataclasses import dataclass

from headstart.insight.plan.errors import PlanError


@dataclass(frozen=True, slots=True)
class KvType:
    """Bytes of one element; scales of one number per tensor or head are too few to count."""

    name: str
    element: int
    packed_latent: bool = False
    """vLLM's `fp8_ds_mla`: fp8 latents with a float32 scale for each 128, and a bf16 rope part."""


KV_TYPES = {
    each.name: each
    for each in (
        KvType("bf16", 2),
        KvType("fp16", 2),
        KvType("fp32", 4),
        KvType("fp8", 1),
        KvType("int8", 1),
        KvType("fp8_ds_mla", 1, packed_latent=True),
    )
}
LONG_NAMES = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32", "fp8_e4m3": "fp8"}


def kv_type(name: str) -> KvType:
    """By our name or torch's. Raises PlanError."""
    found = KV_TYPES.get(LONG_NAMES.get(name, name))
    if found is None:
        raise PlanError(f"'{name}' is no KV type: choose one of {', '.join(KV_TYPES)}.")
    return found
