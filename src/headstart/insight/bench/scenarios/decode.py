"""D: decode speed, that is tokens after the first one, by context length and number of streams."""

from collections.abc import Sequence
from dataclasses import dataclass

from headstart.insight.bench.plan import Request, Sample, Step, alone
from headstart.insight.bench.prompts import PromptSource
from headstart.insight.bench.scenarios.base import by_repeat, pick
from headstart.insight.bench.stats import Summary, summary
from headstart.insight.bench.table import Table


@dataclass(frozen=True, slots=True)
class DecodeRow:
    """One point. Tokens per second, over all streams and in the mean of one."""

    context: int
    streams: int
    total_rate: Summary
    stream_rate: Summary


@dataclass(frozen=True, slots=True)
class DecodeSpeed:
    """Scenario D. The prompts are primed, so that the streams start decoding together."""

    contexts: tuple[int, ...]
    streams: tuple[int, ...]
    generated: int
    repeats: int
    key: str = "D"

    @property
    def points(self) -> list[tuple[int, int]]:
        """Every (context, streams)."""
        return [(context, streams) for context in self.contexts for streams in self.streams]

    def plan(self, source: PromptSource) -> list[Step]:
        """Prime each stream's own prompt once, then decode from it in every round."""
        prompts = {
            context: [source.fresh(context) for _ in range(max(self.streams))]
            for context in self.contexts
        }
        steps = [
            alone(Request(self.key, "prime", (context,), 0, prompt))
            for context, every in prompts.items()
            for prompt in every
        ]
        for repeat in range(self.repeats):
            for context, streams in self.points:
                taken = prompts[context][:streams]
                steps.append(tuple((self._decode(p, streams, repeat),) for p in taken))
        return steps

    def _decode(self, prompt: tuple[int, ...], streams: int, repeat: int) -> Request:
        return Request(
            scenario=self.key,
            role="decode",
            point=(len(prompt), streams),
            repeat=repeat,
            prompt=prompt,
            max_tokens=self.generated,
            reusable=len(prompt) - 1,
        )

    def rows(self, samples: Sequence[Sample]) -> list[DecodeRow]:
        """One row a point."""
        rows = []
        for context, streams in self.points:
            rates = [_rate(run) for run in by_repeat(pick(samples, "decode", (context, streams)))]
            each = summary(rate / streams for rate in rates)
            rows.append(DecodeRow(context, streams, summary(rates), each))
        return rows

    def tables(self, samples: Sequence[Sample]) -> list[Table]:
        """A line a point."""
        rows = tuple(
            (
                str(row.context),
                str(row.streams),
                row.total_rate.show(digits=1),
                row.stream_rate.show(digits=1),
                str(row.total_rate.n),
            )
            for row in self.rows(samples)
        )
        columns = ("context", "streams", "tok/s", "tok/s per stream", "n")
        notes = (f"{self.generated} tokens a stream, each stream's first token excluded.",)
        return [Table("D. Decode speed", columns, rows, notes)]


def _rate(streams: Sequence[Sample]) -> float:
    """Tokens but the first of each, over the time from the earliest first to the latest last."""
    tokens = sum(s.completion_tokens - 1 for s in streams)
    begun = min(s.started + s.ttft for s in streams)
    return tokens / (max(s.started + s.last for s in streams) - begun)
