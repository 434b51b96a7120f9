"""Stop strings in a stream: found across any chunk border, nothing held back without need."""

from collections.abc import Sequence

from headstart.text.partial import partial_suffix


class StopMatcher:
    """Cuts a text stream before the first stop string.

    "First" is the stop string that is complete first; of two complete at the same character, the
    longer one. That is what a reader of single characters would see, so the result does not depend
    on how the text was cut into chunks.
    """

    def __init__(self, stops: Sequence[str]) -> None:
        if not all(stops):
            raise ValueError("an empty stop string would stop before the first character")
        self._stops = tuple(stops)
        self._held = ""
        self.found: str | None = None
        """The stop string that ended the stream."""

    def feed(self, text: str) -> tuple[str, bool]:
        """Take the next piece; return the text safe to emit and whether a stop string was found.

        Once stopped, everything further is swallowed.
        """
        if self.found is not None:
            return "", True
        seen = self._held + text
        found = ((seen.find(stop), len(stop)) for stop in self._stops)
        ends = [(start + length, start) for start, length in found if start >= 0]
        if ends:
            end, start = min(ends)
            self.found = seen[start:end]
            self._held = ""
            return seen[:start], True
        safe = len(seen) - partial_suffix(seen, self._stops)
        self._held = seen[safe:]
        return seen[:safe], False

    def flush(self) -> str:
        """The stream has ended: return what was held back, now known not to be a stop string."""
        held, self._held = self._held, ""
        return held
