"""Hit rate by capacity, as SVG or PNG. matplotlib comes with the `plots` extra."""

from itertools import cycle, groupby
from pathlib import Path
from typing import Any

from headstart.insight.plots import ENDINGS, GREEN, GREY, LINES, PNG_DPI, STYLE
from headstart.insight.replay.lines import TraceError
from headstart.insight.replay.report import Report

SIZE_INCHES = (7.2, 4.2)


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
        lines = curves(report)
        if best := lines.pop("optimum", None):
            sizes, rates = zip(*best, strict=True)
            label = "optimum (knows the future)"
            axes.plot(
                sizes, [100 * each for each in rates], color=GREEN, linestyle="-.", label=label
            )
        by_policy = groupby(report.points, key=lambda point: point.outcome.policy)
        for (colour, dash, mark), (policy, points) in zip(cycle(LINES), by_policy):
            ran = sorted((each.capacity_tokens, each.outcome.hit_rate) for each in points)
            line = lines.get(policy, ran)
            axes.plot(*_percent(line), linestyle=dash, color=colour)
            axes.plot(*_percent(ran), linestyle="none", marker=mark, markersize=5, color=colour)
            axes.plot([], [], linestyle=dash, marker=mark, markersize=5, label=policy, color=colour)
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


def curves(report: Report) -> dict[str, list[tuple[int, float]]]:
    """Hit rates by capacity, to be drawn through all that was run. With tiers or replicas a point
    has more room than one pool, whose curves are the report's."""
    if len(report.levels) == 1 and len(report.points[0].outcome.loads) == 1:
        return {curve.name: list(curve.points) for curve in report.curves}
    known = {(each.capacity_tokens, each.optimum) for each in report.points}
    best = sorted((size, rate) for size, rate in known if rate is not None)
    return {"optimum": best} if best else {}


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
