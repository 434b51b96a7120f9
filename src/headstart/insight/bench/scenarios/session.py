"""B: an agent's session. Every turn's prompt is the last one, its answer, and something new."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from headstart.insight.bench.plan import Request, Sample, Step, wall
from headstart.insight.bench.prompts import PromptSource
from headstart.insight.bench.scenarios.base import UNKNOWN, by_repeat, pick, show_range
from headstart.insight.bench.stats import Summary, summary
from headstart.insight.bench.table import Table


@dataclass(frozen=True, slots=True)
class TurnRow:
    """One turn over all repetitions. `recomputed`: tokens computed in earlier turns, not cached."""

    turn: int
    prompt_tokens: int
    ttft: Summary
    cached: Summary | None
    recomputed: Summary | None


@dataclass(frozen=True, slots=True)
class SessionRow:
    """The whole session; times in seconds, token counts per session."""

    wall: Summary
    ttft_sum: Summary
    cached: Summary | None
    recomputed: Summary | None
    recomputed_per_turn: tuple[int, int, int] | None
    """Smallest, median, largest; the first turn, which has nothing to reuse, left out."""
    turns: tuple[TurnRow, ...]


@dataclass(frozen=True, slots=True)
class AgentSession:
    """Scenario B.

    With `force` the answers are this token over and over (by logit_bias), so the next prompt can
    carry them exactly. Without, unseen tokens of the same number stand in their place, and only the
    last prompt counts as reusable.
    """

    turns: int
    first: int
    added: int
    """Growth per turn, the answer included."""
    generated: int
    repeats: int
    force: int | None = None
    key: str = "B"

    def plan(self, source: PromptSource) -> list[Step]:
        """One lane a session."""
        return [(self._session(source, repeat),) for repeat in range(self.repeats)]

    def _session(self, source: PromptSource, repeat: int) -> tuple[Request, ...]:
        prompt, reusable = source.fresh(self.first), 0
        asked = []
        for turn in range(1, self.turns + 1):
            asked.append(
                Request(
                    scenario=self.key,
                    role="turn",
                    point=(turn,),
                    repeat=repeat,
                    prompt=prompt,
                    max_tokens=self.generated,
                    reusable=reusable,
                    force=self.force,
                )
            )
            # The last generated token was sampled but never fed back: it has no KV yet.
            reusable = len(prompt) + (self.generated - 1 if self.force is not None else 0)
            prompt += self._answer(source) + source.fresh(self.added - self.generated)
        return tuple(asked)

    def _answer(self, source: PromptSource) -> tuple[int, ...]:
        if self.force is None:
            return source.fresh(self.generated)
        return (self.force,) * self.generated

    def rows(self, samples: Sequence[Sample]) -> list[SessionRow]:
        """One row: the session."""
        sessions = by_repeat(pick(samples, "turn"))
        turns = tuple(
            _turn(number, pick(samples, "turn", (number,))) for number in range(1, self.turns + 1)
        )
        later = [_recomputed(s) for s in pick(samples, "turn") if s.reusable]
        known = [count for count in later if count is not None]
        complete = bool(known) and len(known) == len(later)
        per_turn = (min(known), int(statistics.median(known)), max(known)) if complete else None
        return [
            SessionRow(
                wall=summary(wall(session) for session in sessions),
                ttft_sum=summary(sum(s.ttft for s in session) for session in sessions),
                cached=_total([[s.cached_tokens for s in session] for session in sessions]),
                recomputed=_total([[_recomputed(s) for s in session] for session in sessions]),
                recomputed_per_turn=per_turn,
                turns=turns,
            )
        ]

    def tables(self, samples: Sequence[Sample]) -> list[Table]:
        """The session in one line, then turn by turn."""
        (row,) = self.rows(samples)
        low_median_high = row.recomputed_per_turn
        whole = (
            row.wall.show(digits=1),
            row.ttft_sum.show(digits=2),
            _count(row.cached),
            _count(row.recomputed),
            "/".join(map(str, low_median_high)) if low_median_high else UNKNOWN,
            str(row.wall.n),
        )
        columns = ("wall s", "sum TTFT s", "cached", "recomputed", "recomputed/turn", "n")
        notes: tuple[str, ...] = (
            f"{self.turns} turns of {self.added} more tokens, {self.generated} of them generated.",
            "recomputed: tokens earlier turns had computed and this one did not find cached"
            " (per turn: min/median/max).",
        )
        if self.force is None:
            notes += ("The answers' ids are unknown here: unseen tokens stand in their place.",)
        each = tuple(
            (
                str(t.turn),
                str(t.prompt_tokens),
                t.ttft.show(1e3),
                _count(t.cached),
                _count(t.recomputed),
            )
            for t in row.turns
        )
        return [
            Table("B. Agent session", columns, (whole,), notes),
            Table("B. By turn", ("turn", "prompt", "TTFT ms", "cached", "recomputed"), each),
        ]


def _recomputed(sample: Sample) -> int | None:
    if sample.cached_tokens is None:
        return None
    return max(0, sample.reusable - sample.cached_tokens)


def _total(sessions: list[list[int | None]]) -> Summary | None:
    totals = [sum(n for n in counts if n is not None) for counts in sessions if None not in counts]
    return summary(totals) if len(totals) == len(sessions) else None


def _turn(number: int, samples: Sequence[Sample]) -> TurnRow:
    return TurnRow(
        turn=number,
        prompt_tokens=samples[0].sent_tokens,
        ttft=summary(s.ttft for s in samples),
        cached=_total([[s.cached_tokens] for s in samples]),
        recomputed=_total([[_recomputed(s)] for s in samples]),
    )


def _count(counts: Summary | None) -> str:
    return show_range(None) if counts is None else counts.show()
