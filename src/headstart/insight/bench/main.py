"""Runs the benchmark for a person: bar on stderr, tables on stdout, JSON to a file."""

import asyncio
import signal
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from headstart.insight.bench import table
from headstart.insight.bench.driver import Watcher
from headstart.insight.bench.machine import load_average, machine
from headstart.insight.bench.progress import BenchBar
from headstart.insight.bench.report import Outcome, as_json, preamble, remarks, tables
from headstart.insight.bench.run import Measured, ServerFacts, Settings, run
from headstart.insight.wire import EndpointError


@dataclass(frozen=True, slots=True)
class Output:
    """Where the outcome goes besides the terminal, and in which form."""

    json_file: Path | None
    markdown: bool


def main(settings: Settings, output: Output) -> int:
    """Exit status: 0; 1 if something could not be measured; 130 if interrupted."""
    errors, console = Console(stderr=True), Console()
    load_before = load_average()
    date = datetime.now(UTC).isoformat(timespec="seconds")
    try:
        with BenchBar(errors) as bar:
            measured, servers = asyncio.run(_stoppable(settings, bar))
    except EndpointError as error:
        errors.print(f"headstart bench: {error}", style="red", highlight=False, markup=False)
        return 1
    except (KeyboardInterrupt, asyncio.CancelledError):
        return 130
    outcome = Outcome(date, settings, machine(), load_before, load_average(), measured, servers)
    if output.json_file is not None:
        output.json_file.parent.mkdir(parents=True, exist_ok=True)
        output.json_file.write_bytes(as_json(outcome))
    _show(outcome, output, console)
    return 1 if measured.failures else 0


async def _stoppable(
    settings: Settings, watcher: Watcher
) -> tuple[Measured, tuple[ServerFacts, ...]]:
    """Let SIGTERM, like Ctrl-C, stop a server that we started before it ends us."""
    task = asyncio.ensure_future(run(settings, watcher))
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    return await task


def _show(outcome: Outcome, output: Output, console: Console) -> None:
    pretty = console.is_terminal and not output.markdown
    form = table.markdown if output.markdown else table.plain
    for line in preamble(outcome):
        console.out(line, highlight=False)
    for each in tables(outcome):
        console.out()
        if pretty:
            console.print(table.rich(each))
        else:
            console.out(form(each), highlight=False)
    if marked := remarks(outcome):
        console.out()
        for remark in marked:
            console.out(f"! {remark}", highlight=False, style="yellow" if pretty else None)
