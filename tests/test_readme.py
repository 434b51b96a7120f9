"""The README's script runs as printed, and its tables name what is there, all of it."""

import asyncio
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from headstart.cache import POLICIES, Reason
from headstart.cli import app
from headstart.insight.bench.launch import serving
from headstart.insight.demo.files import write

README = Path(__file__).parents[1] / "README.md"
SOURCE = README.parent / "src" / "headstart"
ADDRESS = "127.0.0.1:8000"


@pytest.fixture(scope="module")
def printed(default_model_path: Path) -> list[str]:
    """What the scripts print, run one after the other against one server."""
    scripts = [script for script in python_scripts() if ADDRESS in script]

    async def run() -> list[str]:
        async with serving(("--kv-memory", "256MiB", "--as", "anthropic=claude-opus-5")) as server:
            # Only the port differs from what is printed: 8000 may be taken here.
            address = server.url.removesuffix("/v1").removeprefix("http://")
            return [
                await asyncio.to_thread(run_script, script.replace(ADDRESS, address))
                for script in scripts
            ]

    return asyncio.run(run())


def python_scripts() -> list[str]:
    return re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)


def run_script(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=240
    )
    return done.stdout


@pytest.mark.slow
def test_the_script_in_the_readme_shows_cached_tokens_on_the_second_call(
    printed: list[str],
) -> None:
    counts = re.findall(r"^(\d+) of (\d+) prompt tokens reused$", printed[0], re.MULTILINE)
    (first, prompt), (second, same) = counts
    assert (first, prompt) == ("0", same)
    # All but the question's own tokens and the rest of a block.
    assert int(prompt) - 48 < int(second) < int(prompt)
    assert "Paris" in printed[0]
    assert "Rome" in printed[0]


@pytest.mark.slow
def test_with_anthropics_sdk_the_second_call_reads_what_the_first_one_wrote(
    printed: list[str],
) -> None:
    counts = re.findall(r"^(\d+) tokens written, (\d+) read, (\d+) neither$", printed[1], re.M)
    (written, none, few), (nothing, read, fewer) = (tuple(map(int, each)) for each in counts)
    assert written == read > 512
    assert none == nothing == 0
    assert 0 < fewer <= few < 48


def test_the_layout_in_the_readme_refuses_the_clock_and_marks_what_stays() -> None:
    (script,) = [script for script in python_scripts() if ADDRESS not in script]
    refused, *bodies = run_script(script).splitlines()
    assert refused == "clock: 09:10:19"
    assert [body.split()[0] for body in bodies] == ["marked", "marked"]
    assert all("The current time is 09:1" in body for body in bodies)


def test_the_screen_in_the_readme_is_what_the_commands_print(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (screen,) = re.findall(r"```console\n(.*?)```", README.read_text(), re.DOTALL)
    demo, *steps = re.findall(r"^\$ headstart (.*)\n((?:[^$].*\n|\n)*)", screen, re.MULTILINE)
    assert demo == ("demo --write samples && cd samples", "")
    write(tmp_path)
    monkeypatch.chdir(tmp_path)
    for line, shown in steps:
        assert CliRunner().invoke(app, line.split()).stdout == shown


def test_the_readme_lists_every_endpoint_and_no_other() -> None:
    app = (SOURCE / "server" / "app.py").read_text()
    served = set(re.findall(r'route\("([^"]+)", "([A-Z]+)"', app))
    gemini = re.findall(r'^    \("([^"]+)", "([A-Z]+)", ', app, re.MULTILINE)
    served |= {(f"/v1beta/{path}", method) for path, method in gemini}
    table = re.findall(r"^\| (`(?:GET|POST|DELETE) /[^|]*) \|", README.read_text(), re.MULTILINE)
    listed = set()
    for row in table:
        method = ""
        for named, path in re.findall(r"`(?:(GET|POST|PATCH|DELETE) )?(/[^`]*)`", row):
            method = named or method
            listed.add((path, method))
    # Of one model there is nothing to say that the list doesn't.
    known = {(re.sub(r":\w+}", "}", path), method) for path, method in served}
    assert listed == known - {(f"/{v}/models/{{model}}", "GET") for v in ("v1", "v1beta")}


def test_the_flags_in_the_readme_are_those_of_the_commands() -> None:
    sources = [SOURCE / "server" / "command.py", *(SOURCE / "insight").rglob("*.py")]
    sources += (README.parent / "benchmarks").glob("*.py")
    known = {
        name.replace("_", "-")
        for path in sources
        for name in re.findall(r"(?:^ {4}|--)([a-z]\w*(?:-\w+)*)", path.read_text(), re.MULTILINE)
    }
    flags = set(re.findall(r"--([a-z][a-z-]+)", README.read_text()))
    assert flags - known == set()


def test_the_readme_names_every_policy_and_reason() -> None:
    text = README.read_text()
    (policies,) = re.findall(r"^\| `--eviction-policy` \| (.*?):", text, re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", policies)) == set(POLICIES)
    (reasons,) = re.findall(r"^R is one of (.*?)\.$", text, re.MULTILINE | re.DOTALL)
    # Contracts, not the engine, have minimums.
    assert set(re.findall(r"`(\w+)`", reasons)) == {*Reason} - {Reason.BELOW_MINIMUM}
