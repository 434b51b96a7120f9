"""Agents of others against headstart: `python examples/agents/run.py [ai-sdk] [langchain]`.

Installs the tools beside this file (npm; a virtual environment), starts `headstart serve`, and lets
each tool hold one session of five turns in every dialect it speaks: a question, a tool call, its
result, an answer. One row a session: which prompt tokens were read from the cache, request by
request. The exit status is 1 if a session broke off or its cached tokens fell or never rose.
"""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from headstart.insight.bench.launch import serving

HERE = Path(__file__).parent
SESSION_SECONDS = 300
MODELS = {
    "openai chat": ("gpt-5.6", "gpt-4.1", "plain"),
    "openai responses": ("gpt-5.6", "gpt-4.1", "plain"),
    "anthropic": ("claude-sonnet-4-5", "plain"),
    "gemini": ("gemini-2.5-flash", "plain"),
    "deepseek": ("deepseek-chat", "plain"),
}
"""`plain` is the model under our own contract, the others are under their vendor's."""
SERVE = (
    *("--kv-memory", "512MiB", "--as", "engine=plain", "--as", "anthropic=claude-sonnet-4-5"),
    *("--as", "openai=gpt-5.6", "--as", "openai=gpt-4.1"),
    *("--as", "gemini=gemini-2.5-flash", "--as", "deepseek=deepseek-chat"),
)
WEATHER = {
    "Paris": "Sunny, 24 degrees.",
    "Rome": "Cloudy, 21 degrees.",
    "Oslo": "Snow, minus 3 degrees.",
    "Cairo": "Clear, 33 degrees.",
    "Lima": "Fog, 17 degrees.",
}
RULES = "\n".join(f"Rule {n}: answer question {n} briefly and politely." for n in range(1, 151))
"""Above every minimum among the models' contracts, 2,048 tokens."""


@dataclass(frozen=True, slots=True)
class Row:
    """One request as the tool saw it."""

    turn: int
    called: list[str]
    """The cities asked for."""
    prompt: int
    read: int
    written: int


class BrokenSession(Exception):
    """What went otherwise than a session has to go."""


def ai_sdk() -> tuple[str, ...]:
    """Its command, once it is installed."""
    if not (HERE / "node_modules").exists():
        subprocess.run(("npm", "ci", "--no-audit", "--no-fund"), cwd=HERE, check=True)
    return ("node", str(HERE / "ai_sdk.mjs"))


def langchain() -> tuple[str, ...]:
    """Its command, once it is installed."""
    python = HERE / ".venv" / "bin" / "python"
    if not python.exists():
        subprocess.run((sys.executable, "-m", "venv", HERE / ".venv"), check=True)
        install = ("-m", "pip", "install", "--quiet", "-r", HERE / "requirements.txt")
        subprocess.run((python, *install), check=True)
    return (str(python), str(HERE / "langchain_agent.py"))


TOOLS = {"ai-sdk": ai_sdk, "langchain": langchain}


def hold(command: tuple[str, ...], tool: str, dialect: str, url: str, model: str) -> list[Row]:
    """One session. Raises BrokenSession."""
    session = {
        # The name makes each session's beginning its own, so that its first request is cold.
        "rules": f"{tool}, {dialect}, {model}.\n{RULES}",
        "questions": [f"What is the weather in {city}?" for city in WEATHER],
        "weather": WEATHER,
    }
    done = subprocess.run(
        (*command, dialect, url, model),
        input=json.dumps(session),
        capture_output=True,
        text=True,
        timeout=SESSION_SECONDS,
    )
    if done.returncode:
        raise BrokenSession(done.stderr[-2000:])
    rows = [Row(**json.loads(line)) for line in done.stdout.splitlines()]
    for problem in problems(rows):
        raise BrokenSession(f"{problem}: {rows}")
    return rows


def problems(rows: list[Row]) -> Iterator[str]:
    """What is wrong with a session."""
    calls = [row for row in rows if row.called]
    if {row.turn for row in calls} != set(range(1, len(WEATHER) + 1)):
        yield "a turn has no call"
    if any(later.read < earlier.read for earlier, later in pairwise(rows)):
        yield "cached tokens fell"
    # Two requests a turn; one turn can be shorter than the 128 tokens that some vendors count in.
    if any(later.read <= earlier.read for earlier, later in pairwise(rows[::4])):
        yield "cached tokens did not rise"
    if any(row.read + row.written > row.prompt for row in rows):
        yield "more was read and written than the prompt has"


def print_row(tool: str, dialect: str, model: str, rows: list[Row]) -> None:
    """A line of the table in docs/dialects.md."""
    reads = " ".join(f"{row.read:,}" for row in rows)
    prompts = f"{rows[0].prompt:,} to {rows[-1].prompt:,}"
    print(f"| {tool} | {dialect} | `{model}` | {prompts} | {reads} |", flush=True)


async def main(names: list[str]) -> int:
    """Every session of the tools named; the exit status."""
    broken = 0
    commands = {name: TOOLS[name]() for name in names or TOOLS}
    async with serving(SERVE) as server:
        url = server.url.removesuffix("/v1")
        print("| tool | dialect | model | prompt | read, request by request |\n" + "|---" * 5 + "|")
        for tool, command in commands.items():
            for dialect, models in MODELS.items():
                for model in models:
                    try:
                        rows = await asyncio.to_thread(hold, command, tool, dialect, url, model)
                    except BrokenSession as error:
                        broken += 1
                        print(f"{tool}, {dialect}, {model}: {error}", file=sys.stderr)
                    else:
                        print_row(tool, dialect, model, rows)
    return int(broken > 0)


if __name__ == "__main__":
    raise SystemExit(asyncio.run(main(sys.argv[1:])))
