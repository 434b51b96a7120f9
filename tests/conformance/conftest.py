"""The servers and clients of tests/server, and a clock that tests move."""

from dataclasses import dataclass

import pytest
from tests.server.conftest import eventually, start_real, tiny

__all__ = ["eventually", "start_real", "tiny"]


@dataclass
class Clock:
    """Seconds since the epoch, as far as contracts know."""

    now: float = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(scope="module")
def clock() -> Clock:
    return Clock()
