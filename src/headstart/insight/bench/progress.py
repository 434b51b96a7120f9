"""The benchmark's progress: each request is named by its scenario, point and role."""

from headstart.insight.bench.plan import Request
from headstart.insight.progress import ProgressBar


class BenchBar(ProgressBar):
    """A `Watcher` and a context manager."""

    def done(self, request: Request) -> None:
        """Advance it."""
        point = "+".join(map(str, request.point))
        self.advance(f"{request.scenario} {point} {request.role}")
