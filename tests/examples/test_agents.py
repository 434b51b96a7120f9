"""The sessions of examples/agents on a small random model: tools of others, vendors' contracts."""

import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.conformance.served import Clock, load, serving

RUN = Path(__file__).parents[2] / "examples" / "agents" / "run.py"
NAMES = {
    "openai chat": ("openai", "gpt-5.6"),
    "openai responses": ("openai", "gpt-5.6"),
    "anthropic": ("anthropic", "claude-sonnet-4-5"),
    "gemini": ("gemini", "gemini-2.5-flash"),
    "deepseek": ("deepseek", "deepseek-chat"),
}


SESSIONS = [
    *(("ai-sdk", dialect) for dialect in NAMES),
    *(("langchain", dialect) for dialect in ("openai chat", "anthropic", "gemini")),
]
"""`make agents` holds all of them, with the default model."""


@pytest.fixture(scope="module")
def run() -> ModuleType:
    spec = importlib.util.spec_from_file_location("agents_run", RUN)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    # Words are more tokens here than in the default model's vocabulary.
    module.RULES = "\n".join(module.RULES.splitlines()[:70])
    module.WEATHER = dict(list(module.WEATHER.items())[:3])
    return module


@pytest.fixture(scope="module")
def url(tiny_checkpoint: Callable[..., Path]) -> Iterator[str]:
    model = load(tiny_checkpoint("llama", max_position_embeddings=16384))
    with serving(model, Clock(), aliases=tuple(dict.fromkeys(NAMES.values()))) as live:
        yield live.url


@pytest.mark.slow
@pytest.mark.parametrize(("tool", "dialect"), SESSIONS)
def test_an_agents_session_with_tools_reads_more_with_every_turn(
    run: Any, url: str, tool: str, dialect: str
) -> None:
    if tool not in run.installed():
        pytest.skip("`make agents` installs it, where there is npm")
    _, name = NAMES[dialect]
    rows = run.hold(tool, dialect, url, name)
    assert rows[-1].read > rows[0].prompt
