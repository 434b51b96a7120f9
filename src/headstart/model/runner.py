"""Runs a step of many sequences: from block tables to logits."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from headstart.model.attention import PagedAttention, partial_for
from headstart.model.decoder import Decoder, Step
from headstart.model.kv import KVPool
from headstart.model.lora import Adapter
from headstart.model.plan import Rows, plan_attention


@dataclass(frozen=True, slots=True)
class Slice:
    """The part of one sequence that a step computes: `tokens` at positions from `start` on."""

    tokens: Sequence[int]
    start: int
    blocks: Sequence[int]
    """The sequence's block table, covering at least `start + len(tokens)` positions."""
    wants_logits: bool
    """Whether the logits behind the last token are asked for."""
    adapter: Adapter | None = None


class Runner:
    """A decoder with its pool.

    `deterministic`: every slice runs by itself and reads its context as one piece, so that its
    result depends on nothing but its own tokens and borders.
    """

    def __init__(self, decoder: Decoder, pool: KVPool, *, deterministic: bool = False) -> None:
        self.decoder = decoder
        self.pool = pool
        self._deterministic = deterministic
        self._device = pool.layer(0)[0].device
        self._partial = partial_for(self._device)

    @property
    def device(self) -> torch.device:
        """Where logits come from."""
        return self._device

    def run(self, slices: Sequence[Slice]) -> Tensor:
        """Compute all slices. Returns logits `[W, V]` fp32 of those that want them, in order."""
        if not self._deterministic:
            return self._run(slices)
        return torch.cat([self._run([part]) for part in slices])

    def _run(self, slices: Sequence[Slice]) -> Tensor:
        # Rows of one adapter are neighbours, so that each adapter is applied to one slice of rows.
        order = sorted(
            range(len(slices)),
            key=lambda at: "" if (adapter := slices[at].adapter) is None else f"+{adapter.name}",
        )
        rows: list[Rows] = []
        adapters: list[tuple[slice, Adapter]] = []
        last_row = [0] * len(slices)
        first = 0
        for at in order:
            part = slices[at]
            rows.append(Rows(first, len(part.tokens), part.start, part.blocks))
            if part.adapter is not None:
                begin = first
                if adapters and adapters[-1][1] is part.adapter:
                    begin = adapters.pop()[0].start
                adapters.append((slice(begin, first + len(part.tokens)), part.adapter))
            first += len(part.tokens)
            last_row[at] = first - 1
        plan = plan_attention(rows, self.pool.block_size, whole=self._deterministic)
        step = Step(
            tokens=self._tensor([token for at in order for token in slices[at].tokens]),
            positions=torch.cat(
                [torch.arange(r.start, r.start + r.count, device=self._device) for r in rows]
            ),
            slots=torch.cat([self._slots(r) for r in rows]),
            attention=PagedAttention(plan, self.pool, partial=self._partial),
            wanted=self._tensor(
                [row for part, row in zip(slices, last_row, strict=True) if part.wants_logits]
            ),
            adapters=[(span, adapter.layers) for span, adapter in adapters],
        )
        return self.decoder.forward(step, self.pool)

    def _slots(self, rows: Rows) -> Tensor:
        size = self.pool.block_size
        begin, end = rows.start // size, -(-(rows.start + rows.count) // size)
        blocks = self._tensor(list(rows.blocks[begin:end]))
        slots = (blocks[:, None] * size + torch.arange(size, device=self._device)).flatten()
        offset = rows.start - begin * size
        return slots[offset : offset + rows.count]

    def _tensor(self, numbers: list[int]) -> Tensor:
        return torch.tensor(numbers, dtype=torch.long, device=self._device)
