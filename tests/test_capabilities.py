"""docs/capabilities.md promises 44 things: each has a command that is there and a test that is."""

import re
from pathlib import Path

from headstart.cli import COMMANDS

ROOT = Path(__file__).parents[1]
ROW = re.compile(r"^\| C(\d+) \| (.+) \| (.+) \| `(tests/[^`]+)` \|$", re.MULTILINE)


def test_every_capability_has_a_command_and_a_test() -> None:
    page = (ROOT / "docs" / "capabilities.md").read_text()
    rows = ROW.findall(page)
    assert [int(number) for number, *_ in rows] == list(range(1, 45))
    for number, question, ask, test in rows:
        assert question, number
        assert (ROOT / test).is_file(), f"C{number}: {test}"
        for command in re.findall(r"`headstart ([a-z-]+)", ask):
            assert command in COMMANDS, f"C{number}: {command}"


def test_every_option_it_names_is_in_the_commands_help() -> None:
    from typer.testing import CliRunner

    from headstart.cli import app

    page = (ROOT / "docs" / "capabilities.md").read_text()
    named = set(re.findall(r"`headstart ([a-z-]+) (--[a-z-]+)", page))
    assert named
    for command, option in named:
        told = CliRunner().invoke(app, [command, "--help"])
        assert option in told.output, f"headstart {command} {option}"
