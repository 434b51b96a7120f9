"""Paged attention: partial attentions over views of the pool, merged by their log-sum-exp."""

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor

from headstart.model.kv import KVPool
from headstart.model.plan import AttentionPlan, Segment


class Partial(Protocol):
    """Attention over a part of the keys. The seam for a faster kernel.

    queries `[heads, L, D]`, keys and values `[heads, S, D]` (strided views are fine), scaled by
    1/sqrt(D). Returns the part's output `[heads, L, D]` and the log-sum-exp of its scores
    `[heads, L]`, fp32. `causal` needs L = S.
    """

    def __call__(
        self, queries: Tensor, keys: Tensor, values: Tensor, *, causal: bool
    ) -> tuple[Tensor, Tensor]:
        """See the class."""
        ...


def partial_cpu(
    queries: Tensor, keys: Tensor, values: Tensor, *, causal: bool
) -> tuple[Tensor, Tensor]:
    """PyTorch's own CPU flash attention, the variant that also returns the log-sum-exp."""
    output, lse = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
        queries[None], keys[None], values[None], 0.0, causal
    )
    return output[0], lse[0]


def partial_reference(
    queries: Tensor, keys: Tensor, values: Tensor, *, causal: bool
) -> tuple[Tensor, Tensor]:
    """The definition, for devices without a kernel that returns the log-sum-exp."""
    scores = (queries.float() @ keys.float().transpose(-1, -2)) * queries.shape[-1] ** -0.5
    if causal:
        size = queries.shape[-2]
        future = torch.ones(size, size, dtype=torch.bool, device=scores.device).triu(1)
        scores = scores.masked_fill(future, float("-inf"))
    lse = scores.logsumexp(-1)
    output = (scores - lse[..., None]).exp() @ values.float()
    return output.to(queries.dtype), lse


def partial_for(device: torch.device) -> Partial:
    """The best partial attention here."""
    return partial_cpu if device.type == "cpu" else partial_reference


class PagedAttention:
    """One step's attention, built once from its plan and used by every layer."""

    def __init__(self, plan: AttentionPlan, pool: KVPool, *, partial: Partial) -> None:
        device = pool.layer(0)[0].device
        self._causal = plan.causal
        self._pool = pool
        self._partial = partial
        self._segments = [
            (_rows_index(segment, device), _slots(segment, device)) for segment in plan.segments
        ]

    def __call__(self, layer: int, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """Queries `[N, Q, D]` over the pool and over the step's own keys and values `[N, K, D]`.

        The step's keys and values must be in the pool already. Returns `[N, Q, D]`.
        """
        pool_keys, pool_values = self._pool.layer(layer)
        merge = _Merge(queries)
        for rows, parts in self._segments:
            context = [(_pick(pool_keys, slots), _pick(pool_values, slots)) for slots in parts]
            merge.add(rows, *self._over_context(queries[rows], context))
        for first, count in self._causal:
            rows = slice(first, first + count)
            merge.add(rows, *self._among_new(queries[rows], keys[rows], values[rows]))
        return merge.output

    def _over_context(
        self, queries: Tensor, context: Sequence[tuple[Tensor, Tensor]]
    ) -> tuple[Tensor, Tensor]:
        """No mask, so the query heads of a group stand as further queries of their one KV head."""
        count, heads, dim = queries.shape
        kv_heads = context[0][0].shape[0]
        group = heads // kv_heads
        folded = queries.view(count, kv_heads, group, dim).transpose(0, 1)
        folded = folded.reshape(kv_heads, count * group, dim)
        output, lse = _joined(
            [self._partial(folded, keys, values, causal=False) for keys, values in context]
        )
        output = output.reshape(kv_heads, count, group, dim).transpose(0, 1)
        lse = lse.reshape(kv_heads, count, group).transpose(0, 1)
        return output.reshape(count, heads, dim), lse.reshape(count, heads)

    def _among_new(self, queries: Tensor, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        group = queries.shape[1] // keys.shape[1]
        output, lse = self._partial(
            queries.transpose(0, 1),
            keys.transpose(0, 1).repeat_interleave(group, 0),
            values.transpose(0, 1).repeat_interleave(group, 0),
            causal=True,
        )
        return output.transpose(0, 1), lse.transpose(0, 1)


def _joined(parts: Sequence[tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor]:
    """Partial results of the same rows over different keys, as one."""
    if len(parts) == 1:
        return parts[0]
    outputs = torch.stack([output for output, _ in parts])
    lses = torch.stack([lse for _, lse in parts])
    total = lses.logsumexp(0)
    shares = (lses - total).exp()[..., None]
    return (outputs * shares).sum(0), total


class _Merge:
    """Joins the partial results of each row. Parts of a row arrive in any number, order given."""

    def __init__(self, queries: Tensor) -> None:
        count, heads, _ = queries.shape
        self._total = queries.new_full((count, heads), float("-inf"), dtype=torch.float32)
        self._output = torch.zeros_like(queries, dtype=torch.float32)
        self._dtype = queries.dtype
        self._alone: Tensor | None = None
        self._parts = 0

    @property
    def output(self) -> Tensor:
        merged = self._output if self._alone is None else self._alone
        return merged.to(self._dtype)

    def add(self, rows: slice | Tensor, output: Tensor, lse: Tensor) -> None:
        self._parts += 1
        if self._parts == 1 and output.shape[0] == self._output.shape[0]:
            self._alone, self._total = output, lse
            return
        if self._alone is not None:
            self._output, self._alone = self._alone.float(), None
        before = self._total[rows]
        share = torch.sigmoid(lse - before)[..., None]
        self._output[rows] = torch.lerp(self._output[rows], output.float(), share)
        self._total[rows] = torch.logaddexp(before, lse)


def _rows_index(segment: Segment, device: torch.device) -> slice | Tensor:
    first, last = segment.rows[0], segment.rows[-1]
    if last - first + 1 == len(segment.rows):
        return slice(first, last + 1)
    return torch.tensor(segment.rows, device=device)


def _slots(segment: Segment, device: torch.device) -> list[slice | Tensor]:
    parts: list[slice | Tensor] = [slice(run.slot, run.slot + run.length) for run in segment.runs]
    if segment.packed:
        ranges = [
            torch.arange(run.slot, run.slot + run.length, device=device) for run in segment.packed
        ]
        parts.append(torch.cat(ranges))
    return parts


def _pick(pool: Tensor, slots: slice | Tensor) -> Tensor:
    """`[K, slots, D]`: a view for a slice, a copy for slots apart."""
    return pool[:, slots] if isinstance(slots, slice) else pool.index_select(1, slots)
