"""From sampled tokens to chunks of text: detokenising, stop strings, the reason to finish."""

from collections.abc import Sequence

from headstart.engine.api import Chunk, FinishReason, TokenLogprob
from headstart.model.params import SamplingParams
from headstart.model.sampling import Sampled
from headstart.text.codec import Codec
from headstart.text.stops import StopMatcher


class Output:
    """The output of one choice. Text is whole characters and never part of a stop string."""

    def __init__(
        self, index: int, params: SamplingParams, codec: Codec, prompt: Sequence[int]
    ) -> None:
        self._index = index
        self._codec = codec
        self._detokenizer = codec.detokenizer(prompt)
        self._stops = StopMatcher(params.stop)
        self._max_tokens = params.max_tokens
        self._ends = set(params.stop_token_ids)
        if not params.ignore_eos:
            self._ends.update(codec.eos_ids)
        self._count = 0
        self.finished = False

    def feed(self, sampled: Sampled, *, grammar_finished: bool) -> Chunk:
        """Take the next token. The chunk has a finish reason if it was the last."""
        self._count += 1
        reason: FinishReason | None = None
        if sampled.token in self._ends:
            text, reason = self._flush(), "stop"
        else:
            text, stopped = self._stops.feed(self._detokenizer.feed(sampled.token))
            if stopped:
                reason = "stop"
            elif grammar_finished:
                text, reason = text + self._flush(), "stop"
            elif self._count >= self._max_tokens:
                text, reason = text + self._flush(), "length"
        self.finished = reason is not None
        return Chunk(
            self._index,
            text,
            self._logprobs(sampled),
            reason,
            tokens=1,
            stop=self._stops.found,
            ids=(sampled.token,),
        )

    def fail(self, reason: FinishReason) -> Chunk:
        """End the choice for a reason outside it; text held back comes out."""
        self.finished = True
        return Chunk(self._index, self._flush(), (), reason)

    def _flush(self) -> str:
        text, stopped = self._stops.feed(self._detokenizer.flush())
        return text if stopped else text + self._stops.flush()

    def _logprobs(self, sampled: Sampled) -> tuple[TokenLogprob, ...]:
        if sampled.logprob is None:
            return ()
        top = tuple(
            TokenLogprob(token, self._codec.token_bytes(token), logprob)
            for token, logprob in sampled.top
        )
        data = self._codec.token_bytes(sampled.token)
        return (TokenLogprob(sampled.token, data, sampled.logprob, top),)
