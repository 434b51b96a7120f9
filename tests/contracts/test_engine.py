import pytest
from tests.contracts.build import SUFFIX, Server, account, prompt, user

from headstart.contracts.engine import Engine


@pytest.mark.parametrize("reused", [0, 1, 17, 102])
def test_what_was_reused_is_read_to_the_token(reused: int) -> None:
    decision = Server(Engine()).ask(prompt(user(100, mark=True)), reused=reused)
    assert account(decision) == (reused, {}, 100 + SUFFIX - reused)


def test_nothing_is_written_and_nothing_kept() -> None:
    server = Server(Engine())
    plan = server.plan(prompt(user(100)))
    plan.commit(server.entries, 0.0)
    assert (plan.kept, server.entries.count("acme")) == ([], 0)
