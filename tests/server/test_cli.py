"""The command line: fast to start, clear when misused."""

import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from headstart import cli
from headstart.ledger import default_path
from headstart.server import flags
from headstart.server.catalog import DEFAULT_FILE, entries
from headstart.settings import DEFAULT_MODEL, Settings

LIGHT = {"headstart", "typer", "annotated_doc", "shellingham"}
"""What help may import besides Python's own: typer, and what typer can't do without."""
SLOW_OF_PYTHON = {"asyncio", "sqlite3", "ssl", "email", "http", "xml", "multiprocessing"}
HELP_OF_ALL = """
import contextlib, json, sys
before = set(sys.modules)
import typer
from headstart import cli

group = typer.main.get_command(cli.app)
paths = [[], *([name] for name in cli.COMMANDS), *(["cache", name] for name in CACHE)]
imported = {}
for path in paths:
    with contextlib.suppress(SystemExit):
        group.main([*path, "--help"], "headstart")
    tops = {name.partition(".")[0] for name in set(sys.modules) - before}
    imported[" ".join(path)] = sorted(tops)
print(json.dumps(imported), file=sys.stderr)
""".replace("CACHE", str(["ls", "verify", "prune", "export", "import"]))
"""Tells what was imported by then, by command."""


def run(*arguments: str) -> Any:
    return CliRunner().invoke(cli.app, arguments, env={"COLUMNS": "200"})


def test_help_takes_less_than_three_tenths_of_a_second() -> None:
    """In processor time, and the best of three: what else this machine does is not ours."""
    seconds = []
    for _ in range(3):
        before = _children_seconds()
        command = [sys.executable, "-c", "from headstart.cli import main; main()", "--help"]
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        seconds.append(_children_seconds() - before)
    assert "serve" in output
    assert min(seconds) < 0.3


def _children_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def test_the_help_of_every_command_imports_nothing_heavy() -> None:
    done = subprocess.run(
        [sys.executable, "-c", HELP_OF_ALL], capture_output=True, text=True, check=True
    )
    imported: dict[str, list[str]] = json.loads(done.stderr)
    assert {"", "serve", "plan", "cache ls"} < imported.keys()
    assert done.stdout.count("Usage: headstart") == len(imported)
    heavy = {
        command: found
        for command, names in imported.items()
        if (found := set(names) - LIGHT - sys.stdlib_module_names | set(names) & SLOW_OF_PYTHON)
    }
    assert heavy == {}


def test_the_commands_are_those_of_the_issue() -> None:
    output = run("--help").output
    assert all(name in output for name in ("serve", "chat", "bench", "models"))


@pytest.mark.parametrize("command", ["chat", "bench"])
def test_commands_of_other_rooms_explain_their_own_options(command: str) -> None:
    result = run(command, "--help")
    assert result.exit_code == 0
    assert "--url" in result.output


def test_a_lora_is_a_name_and_a_directory() -> None:
    assert flags.parse_lora("sql=./a=b") == ("sql", "./a=b")
    for text in ("sql", "=dir", "sql="):
        with pytest.raises(typer.BadParameter):
            flags.parse_lora(text)


def test_an_alias_is_a_known_vendor_and_a_name() -> None:
    assert flags.parse_alias("anthropic=claude-sonnet-4-5") == ("anthropic", "claude-sonnet-4-5")
    for text in ("claude", "nobody=claude", "anthropic=", "=claude"):
        with pytest.raises(typer.BadParameter):
            flags.parse_alias(text)


def test_accounts_go_to_the_users_own_ledger_unless_told_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[Settings] = []
    monkeypatch.setattr("headstart.server.run.run", lambda settings: seen.append(settings) or 0)
    assert run("serve").exit_code == 0
    assert [settings.ledger for settings in seen] == [str(default_path())]


def test_every_option_reaches_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Settings] = []

    def note(settings: Settings) -> int:
        seen.append(settings)
        return 0

    monkeypatch.setattr("headstart.server.run.run", note)
    given = run(
        *("serve", "--host", "::1", "--port", "9", "--model", "m", "--served-model-name", "s"),
        *("--dtype", "float32", "--device", "cpu", "--load-format", "dummy"),
        *("--lora", "a=x", "--lora", "b=y", "--block-size", "8", "--kv-memory", "1GiB"),
        *("--max-batch-tokens", "99", "--max-running", "3", "--max-waiting", "4"),
        *("--max-body-bytes", "1MiB", "--context-length", "77", "--deterministic"),
        *("--no-prefix-cache", "--api-key", "k", "--api-keys", "f", "--drain-seconds", "2"),
        *("--threads", "1", "--ledger", "l.db", "--prices", "p.toml"),
        *("--as", "anthropic=claude-x", "--as", "openai=gpt-y"),
    )
    assert given.exit_code == 0, given.output
    assert run("serve", "--no-ledger").exit_code == 0
    assert seen == [
        Settings(
            model="m",
            served_model_name="s",
            aliases=(("anthropic", "claude-x"), ("openai", "gpt-y")),
            ledger="l.db",
            prices="p.toml",
            dtype="float32",
            device="cpu",
            load_format="dummy",
            loras=(("a", "x"), ("b", "y")),
            block_size=8,
            kv_memory_bytes=1 << 30,
            max_batch_tokens=99,
            max_running=3,
            max_waiting=4,
            max_body_bytes=1 << 20,
            context_length=77,
            deterministic=True,
            prefix_cache=False,
            api_key="k",
            api_keys_file="f",
            drain_seconds=2.0,
            threads=1,
            host="::1",
            port=9,
        ),
        Settings(),
    ]


@pytest.mark.parametrize(
    "arguments",
    [("--port", "http"), ("--dtype", "int8"), ("--kv-memory", "lots"), ("--lora", "x")],
)
def test_a_wrong_option_is_a_usage_error(arguments: tuple[str, ...]) -> None:
    result = run("serve", *arguments)
    assert result.exit_code == 2
    assert arguments[0] in result.output


def test_the_exit_status_of_the_server_is_the_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headstart.server.run.run", lambda settings: 1)
    assert run("serve").exit_code == 1


def test_the_catalog_lists_the_default_our_files_and_the_hubs(tmp_path: Path) -> None:
    cache, hub = tmp_path / "cache", tmp_path / "hub"
    for path in (
        cache / DEFAULT_FILE,
        cache / "other.gguf",
        hub / "models--org--some--name" / "snapshots" / "1" / "config.json",
        hub / "models--org--unfinished" / "refs" / "main",
        hub / "datasets--org--data" / "snapshots" / "1" / "config.json",
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    default, other, repository = entries(cache, hub)
    assert default.model == DEFAULT_MODEL
    assert DEFAULT_FILE in default.where
    assert other.model == str(cache / "other.gguf")
    assert repository.model == "org/some--name"


def test_the_catalog_of_an_empty_machine_says_when_the_default_comes(tmp_path: Path) -> None:
    (default,) = entries(tmp_path, tmp_path)
    assert "first start" in default.where


def test_models_names_the_families() -> None:
    result = run("models")
    assert result.exit_code == 0
    assert all(family in result.output for family in ("llama", "mistral", "qwen2", "qwen3"))
