"""Agents of others against headstart: `make agents`, some: `make agents ARGS='langchain gemini'`.

Starts `headstart serve`, and lets each tool hold one session of five turns in every dialect it
speaks: a question, a tool call, its result, an answer. One row a session: which prompt tokens were
read from the cache, request by request. The exit status is 1 if a session broke off or its cached
tokens fell or never rose.
"""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise, product
from pathlib import Path

from headstart.insight.bench.launch import serving

HERE = Path(__file__).parent
TOOLS = {
    "ai-sdk": ("node", str(HERE / "ai_sdk.mjs")),
    "langchain": (sys.executable, str(HERE / "langchain_agent.py")),
}
AI_SDK = HERE / "node_modules"
SESSION_SECONDS = 900
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


def installed() -> list[str]:
    """The tools that can be run here; the AI SDK takes node and npm."""
    return [tool for tool in TOOLS if tool != "ai-sdk" or AI_SDK.exists()]


def hold(tool: str, dialect: str, url: str, model: str) -> list[Row]:
    """One session. Raises BrokenSession."""
    session = {
        # The name makes each session's beginning its own, so that its first request is cold.
        "rules": f"{tool}, {dialect}, {model}.\n{RULES}",
        "questions": [f"What is the weather in {city}?" for city in WEATHER],
        "weather": WEATHER,
    }
    try:
        done = subprocess.run(
            (*TOOLS[tool], dialect, url, model),
            input=json.dumps(session),
            capture_output=True,
            text=True,
            timeout=SESSION_SECONDS,
        )
    except subprocess.TimeoutExpired as error:
        raise BrokenSession(f"no end after {SESSION_SECONDS} s") from error
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
    """A line of the table in README.md."""
    reads = " ".join(f"{row.read:,}" for row in rows)
    prompts = f"{rows[0].prompt:,} to {rows[-1].prompt:,}"
    print(f"| {tool} | {dialect} | `{model}` | {prompts} | {reads} |", flush=True)


def chosen(words: list[str], from_all: Iterable[str]) -> list[str]:
    """Those that are named, or all if none is."""
    return [each for each in from_all if each in words] or list(from_all)


async def main(words: list[str]) -> int:
    """The sessions of the tools and dialects that are named; the exit status."""
    if unknown := set(words) - TOOLS.keys() - MODELS.keys():
        raise SystemExit(f"no such tool or dialect: {', '.join(sorted(unknown))}")
    for missing in TOOLS.keys() - installed():
        print(f"{missing} is left out: it needs npm, then `make agents`", file=sys.stderr)
    broken = 0
    async with serving(SERVE) as server:
        url = server.url.removesuffix("/v1")
        print("| tool | dialect | model | prompt | read, request by request |\n" + "|---" * 5 + "|")
        for tool, dialect in product(chosen(words, installed()), chosen(words, MODELS)):
            for model in MODELS[dialect]:
                try:
                    rows = await asyncio.to_thread(hold, tool, dialect, url, model)
                except BrokenSession as error:
                    broken += 1
                    print(f"{tool}, {dialect}, {model}: {error}", file=sys.stderr)
                else:
                    print_row(tool, dialect, model, rows)
    return int(broken > 0)


if __name__ == "__main__":
    raise SystemExit(asyncio.run(main(sys.argv[1:])))
