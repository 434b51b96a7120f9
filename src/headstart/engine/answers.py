"""What an answer was, for the turns that follow: its own ids, and why it ended."""

from concurrent.futures import ThreadPoolExecutor

from headstart.engine.api import FinishReason, GenerateRequest
from headstart.engine.sequence import Sequence
from headstart.text.codec import Codec

AT_ONCE_TOKENS = 4096
"""Answers to prompts up to this long are remembered in less than a millisecond."""


class Answers:
    """Teaches the codec answers as they end; long ones in a thread of its own."""

    def __init__(self, codec: Codec) -> None:
        self._codec = codec
        self._thread = ThreadPoolExecutor(1, "headstart-answers")

    def ended(self, tenant: str, sequence: Sequence) -> None:
        """Have the answer's own ids used when its text comes back (TURN-01)."""
        prompt = sequence.tokens[: sequence.prompt_tokens]
        answer = sequence.tokens[sequence.prompt_tokens :]
        if len(prompt) <= AT_ONCE_TOKENS:
            self._codec.remember(tenant, prompt, answer)
        else:
            self._thread.submit(self._codec.remember, tenant, prompt, answer)

    def why_ended(self, request: GenerateRequest, sequence: Sequence, reason: FinishReason) -> str:
        """The reason, "tool_calls" among them: after a call the next request comes soon."""
        if request.hints.tools and reason == "stop":
            answer = sequence.tokens[sequence.prompt_tokens :]
            return "tool_calls" if self._codec.shows_call(answer) else reason
        return reason

    def close(self) -> None:
        """Forget what is still to be learned."""
        self._thread.shutdown(cancel_futures=True)
