"""Hit rates by tokens: since start, and over the last minute."""

from collections import deque
from dataclasses import dataclass

WINDOW_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class TokenRates:
    """Prompt tokens asked for and served from the cache, a request counted once, at admission."""

    prompt: int
    hit: int
    recent_prompt: int
    recent_hit: int


class Tally:
    """Counts prompts. Bounded memory: the recent ones are kept by the second."""

    __slots__ = ("_hit", "_prompt", "_seconds")

    def __init__(self) -> None:
        self._prompt = 0
        self._hit = 0
        self._seconds: deque[tuple[int, int, int]] = deque()

    def add(self, *, prompt: int, hit: int, now: float) -> None:
        """Count one admitted prompt of `prompt` tokens of which `hit` were not computed again."""
        self._prompt += prompt
        self._hit += hit
        second = int(now)
        if self._seconds and self._seconds[-1][0] == second:
            _, prompts, hits = self._seconds.pop()
            prompt, hit = prompt + prompts, hit + hits
        self._seconds.append((second, prompt, hit))
        self._forget(now)

    def rates(self, now: float) -> TokenRates:
        """The sums so far and over the last minute."""
        self._forget(now)
        return TokenRates(
            prompt=self._prompt,
            hit=self._hit,
            recent_prompt=sum(prompt for _, prompt, _ in self._seconds),
            recent_hit=sum(hit for _, _, hit in self._seconds),
        )

    def _forget(self, now: float) -> None:
        while self._seconds and self._seconds[0][0] < now - WINDOW_SECONDS:
            self._seconds.popleft()
