"""What is true of the cache is true of it with every index."""

import pytest

from headstart.cache import INDEXES


@pytest.fixture(scope="session", params=sorted(INDEXES))
def index(request: pytest.FixtureRequest) -> str:
    """The name of an index; a test that asks for it runs once with each."""
    name: str = request.param
    return name
