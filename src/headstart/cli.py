"""The `headstart` command: a table of commands, each of which is imported once it is chosen."""

from typing import Any

import typer

from headstart.commands import Commands, Deferred

COMMANDS = {
    "serve": (
        "headstart.server.command:serve",
        "Serve a model behind the APIs of OpenAI, Anthropic, Gemini and DeepSeek.",
    ),
    "models": (
        "headstart.server.models_command:models",
        "List what can be served.",
    ),
    "chat": (
        "headstart.insight.chat:chat",
        "Talk to a server and see what each turn reused.",
    ),
    "bench": (
        "headstart.insight.bench.command:bench",
        "Measure an OpenAI-compatible endpoint: time to first token cold and warm, decode speed.",
    ),
    "cache": (
        "headstart.insight.kv_files.command:app",
        "Look after the KV that --disk keeps: ls, verify, prune, export, import.",
    ),
    "ledger": (
        "headstart.insight.ledger.command:ledger",
        "Sum up what was served: tokens, their hit rate, money paid and saved.",
    ),
    "plan": (
        "headstart.insight.plan.command:plan",
        "Say what a prefix cache is worth: memory, operations, time to first token and money.",
    ),
    "demo": (
        "headstart.insight.demo.command:demo",
        "Show the reports on made-up traffic, with the commands to type next.",
    ),
    "lint": (
        "headstart.insight.lint.command:lint",
        "Find what keeps prompts from being read from a cache, in their bodies alone.",
    ),
    "lint-code": (
        "headstart.insight.lint_code.command:lint_code",
        "Find in source code what breaks a prompt's prefix: Python, TypeScript and Jinja.",
    ),
    "explain": (
        "headstart.insight.explain.command:explain",
        "Say why a request was not read from a cache, where it broke, and what that cost.",
    ),
    "report": (
        "headstart.insight.report.command:report",
        "Say what recorded requests read from the cache, what that cost, and what to change.",
    ),
    "layout": (
        "headstart.insight.layout_command:layout",
        "Lay a prompt out by how long its parts stay the same, and prove what that gains.",
    ),
    "replay": (
        "headstart.insight.replay.command:replay",
        "Replay recorded requests against the cache: what it would hit, by policy and capacity.",
    ),
    "probe": (
        "headstart.insight.probe.command:probe",
        "Say whether an endpoint reuses prefixes, how many it keeps and for how long.",
    ),
    "warm": (
        "headstart.insight.warm.command:warm",
        "Keep prompts in a vendor's cache between their uses, for as long as it pays.",
    ),
}
"""By name, in the order of the help: a function with typed options (or a `typer.Typer` with
commands of its own), and a sentence."""


class _Headstart(Commands):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for name, (target, sentence) in COMMANDS.items():
            self.add_command(Deferred(name, target, sentence))


app = typer.Typer(
    cls=_Headstart, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None
)


@app.callback()
def headstart() -> None:
    """Serve language models behind a prefix cache that tells the truth."""


def main() -> None:
    """Entry point of the `headstart` command."""
    app(prog_name="headstart")
