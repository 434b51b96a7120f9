"""Hit rate by capacity, as SVG or PNG. matplotlib comes with the `plots` extra."""

from itertools import groupby
from pathlib import Path
from typing import Any

from headstart.insight.replay.lines import TraceError
from headstart.insight.replay.report import Report

ENDINGS = (".svg", ".png")
SIZE_INCHES, PNG_DPI = (7.2, 4.2), 160
GREY, GREEN = "#6E6E6E", "#009E73"
COLOURS = ("#0072B2", "#D55E00", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Of Okabe and Ito's, which colour-blind people tell apart; lines and marks differ as well."""
DASHES, MARKS = ("-", "--", ":", "-."), ("o", "s", "^", "D", "v", "P")
STYLE: Any = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial", "sans-serif"],
    "font.size": 9.5,
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#E3E3E3",
    "lines.linewidth": 2.0,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "svg.fonttype": "none",
    "svg.hashsalt": "headstart",
}


def draw(report: Report, path: Path) -> None:
    """Write the picture; the same report is the same file. Raises TraceError."""
    try:
        import matplotlib as mpl
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
        from matplotlib.ticker import FuncFormatter, LogLocator
    except ImportError:
        raise TraceError("--plot needs matplotlib: pip install 'headstart[plots]'") from None
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=SIZE_INCHES, layout="constrained")
        FigureCanvasAgg(figure)
        axes: Any = figure.subplots()
        if report.ceiling is not None:
            label = f"without a limit: {report.ceiling:.1%}"
            axes.axhline(100 * report.ceiling, color=GREY, linestyle=":", label=label)
        lines = {curve.name: list(curve.points) for curve in report.curves}
        if best := lines.pop("optimum", None):
            sizes, rates = zip(*best, strict=True)
            label = "optimum (knows the future)"
            axes.plot(sizes, [100 * each for each in rates], GREEN, linestyle="-.", label=label)
        by_policy = groupby(report.points, key=lambda point: point.outcome.policy)
        for number, (policy, points) in enumerate(by_policy):
            ran = sorted((each.capacity_tokens, each.outcome.hit_rate) for each in points)
            line = lines.get(policy, ran) if len(report.levels) == 1 else ran
            style = {"color": COLOURS[number % len(COLOURS)]}
            dash, mark = DASHES[number % len(DASHES)], MARKS[number % len(MARKS)]
            axes.plot(*_percent(line), linestyle=dash, **style)
            axes.plot(*_percent(ran), linestyle="none", marker=mark, markersize=5, **style)
            axes.plot([], [], linestyle=dash, marker=mark, markersize=5, label=policy, **style)
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=16))
        axes.xaxis.set_minor_locator(LogLocator(subs=(1,), numticks=16))
        axes.xaxis.set_major_formatter(FuncFormatter(_tokens))
        axes.set(
            title=f"Hit rate on {_short(report.facts.files[0])}",
            xlabel="capacity, tokens",
            ylabel="hit rate, % of prompt tokens",
        )
        top = max([point.outcome.hit_rate for point in report.points] + [report.ceiling or 0])
        axes.set_ylim(0, min(101.0, 130 * top + 1))
        axes.legend(loc="best")
        metadata = {"Date": None} if path.suffix.lower() == ".svg" else {}
        try:
            figure.savefig(path, dpi=PNG_DPI, metadata=metadata)
        except OSError as error:
            raise TraceError(f"{path} can't be written: {error.strerror}") from None


def check_ending(path: Path) -> None:
    """Raises TraceError, before anything is run."""
    if path.suffix.lower() not in ENDINGS:
        raise TraceError(f"--plot {path}: a plot ends in {' or '.join(ENDINGS)}")


def _percent(points: list[tuple[int, float]]) -> tuple[list[int], list[float]]:
    return [size for size, _ in points], [100 * rate for _, rate in points]


def _tokens(number: float, _: Any = None) -> str:
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= size:
            return f"{number / size:g}{unit}"
    return f"{number:g}"


def _short(name: str) -> str:
    return name if len(name) <= 48 else f"{name[:47]}…"
