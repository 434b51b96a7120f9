"""The curves of a plan, as SVG or PNG. matplotlib comes with the `plots` extra."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import cycle
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headstart.insight.plan.ask import Ask
from headstart.insight.plan.errors import PlanError
from headstart.insight.plan.memory import room
from headstart.insight.plan.money import Offer, lives, money, reads_to_break_even
from headstart.insight.plan.prefill import prefill
from headstart.insight.plan.reuse import Prompt
from headstart.insight.plan.sections.prefill import miss
from headstart.insight.plan.trace import Curve
from headstart.insight.plots import BLUE, ENDINGS, GREEN, GREY, LINES, ORANGE, PNG_DPI, STYLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE_INCHES = (8.8, 6.4)
STEPS = 60
MOST_USES = 12
"""Or twice as many as break even."""
MOST_POINTS = 24
MOST_LETTERS = 27
"""Of a title."""


def draw(ask: Ask, path: Path) -> None:
    """Write the picture; the same plan is the same file. Raises PlanError."""
    if path.suffix.lower() not in ENDINGS:
        raise PlanError(f"--plot {path}: a plot ends in {' or '.join(ENDINGS)}.")
    try:
        import matplotlib as mpl
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise PlanError("--plot needs matplotlib: pip install 'headstart[plots]'.") from None
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=SIZE_INCHES, layout="constrained")
        FigureCanvasAgg(figure)
        panels = [_prefill, _first_token, _capacity if ask.curve is not None else _residents]
        if ask.offer is not None:
            panels.append(_money)
        for axes, panel in zip(figure.subplots(2, 2).flat, panels, strict=False):
            panel(axes, ask)
        for axes in list(figure.axes)[len(panels) :]:
            axes.remove()
        prompt = ask.prompt
        figure.suptitle(
            f"{ask.model.shape.name}: {prompt.prefix:,} tokens that come again, "
            f"{prompt.question:,} that are new",
            fontsize=11,
        )
        metadata = {"Date": None} if path.suffix.lower() == ".svg" else {}
        try:
            figure.savefig(path, dpi=PNG_DPI, metadata=metadata)
        except OSError as error:
            raise PlanError(f"{path} can't be written: {error.strerror}.") from None


def _prefill(axes: "Axes", ask: Ask) -> None:
    """What is left of prefill by the share that is reused, for prompts of this length."""
    total, cold = ask.prompt.tokens, miss(ask).seconds
    near = {total - round(total * 10 ** (-step / 10)) for step in range(STEPS)}
    even = {round(total * step / STEPS) for step in range(STEPS)}
    counts = sorted(at for at in near | even if at < total)
    left = [100 * prefill(ask.model, ask.machine, at, total).seconds / cold for at in counts]
    shares = [100 * at / total for at in counts]
    axes.plot(shares, left, color=BLUE, label="attention and bandwidth counted")
    axes.plot(shares, [100 - each for each in shares], color=ORANGE, linestyle="--", label="1 − r")
    own = ask.prompt.reusable / total
    time = prefill(ask.model, ask.machine, ask.prompt.reusable, total).seconds
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(_plain)
    axes.set_xlim(0, 100)
    axes.set_ylim(min(left) / 4, 150)
    _mark(axes, 100 * own, 100 * time / cold, f"this plan: {cold / time:.1f}× less", below=True)
    axes.set(
        title="Prefill by what is reused",
        xlabel="reused, % of the prompt",
        ylabel="prefill left, %",
    )
    axes.legend(loc="lower left")


def _first_token(axes: "Axes", ask: Ask) -> None:
    """Time to first token by hit rate; beyond the ceiling there is nothing."""
    total, best = ask.prompt.tokens, ask.prompt.reusable
    counts = sorted({round(best * step / STEPS) for step in range(STEPS + 1)})
    overhead = 1000 * ask.machine.overhead
    times = [1000 * prefill(ask.model, ask.machine, at, total).seconds + overhead for at in counts]
    rates = [100 * at / total for at in counts]
    axes.plot(rates, times, color=BLUE, label="time to first token")
    axes.axhline(overhead, color=GREY, linestyle=":", label="overhead, which stays")
    ceiling = 100 * best / total
    axes.axvspan(ceiling, 100, color="#EEEEEE", lw=0, label="out of reach for these prompts")
    axes.set(title="Time to first token", xlabel="hit rate, % of tokens", ylabel="ms")
    axes.set_xlim(0, 100)
    _mark(axes, ceiling, times[-1], f"{times[-1]:,.0f} ms", below=True)
    axes.set_ylim(0, 1.08 * times[0])
    axes.legend(loc="lower left", bbox_to_anchor=(0, 0.14))


def _capacity(axes: "Axes", ask: Ask) -> None:
    """Hit rate on the trace by cache size."""
    curve = ask.curve
    assert isinstance(curve, Curve)
    scale = ask.model.shape.kv_bytes(ask.model.kv) / 2**30
    sizes = [point.tokens * scale for point in curve.points]
    axes.plot(
        sizes,
        [100 * p.optimum for p in curve.points],
        color=GREEN,
        linestyle="-.",
        marker="s",
        markersize=4,
        label="optimum (knows the future)",
    )
    for policy, (colour, line, marker) in zip(curve.policies, cycle(LINES), strict=False):
        rates = [100 * point.rates[policy] for point in curve.points]
        axes.plot(
            sizes, rates, color=colour, linestyle=line, marker=marker, markersize=4, label=policy
        )
    axes.axhline(100 * curve.ceiling, color=GREY, linestyle=":", label="without a limit")
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(_plain)
    axes.set(title=f"Hit rate on {_short(curve.name)}", xlabel="KV, GiB", ylabel="hit rate, %")
    own, best = curve.planned, max(curve.planned.rates.values())
    label = f"this pool: {best:.1%}"
    axes.plot([own.tokens * scale], [100 * best], "o", color="black", zorder=5, label=label)
    axes.set_ylim(0, 1.6 * 100 * curve.ceiling)  # The legend lies above all lines.
    axes.set_yticks([tick for tick in axes.get_yticks() if tick <= 100])
    axes.legend(loc="upper left", ncols=2, columnspacing=1.0)


def _residents(axes: "Axes", ask: Ask) -> None:
    """Prefixes that fit by their length."""
    own = ask.prompt
    lengths = [max(own.block, round(own.prefix * 2 ** (step / 4))) for step in range(-16, 17)]
    known = [(length, room(_with(ask, length)).copies) for length in lengths]
    points = [(length, copies) for length, copies in known if copies]
    axes.set(title="Prefixes that fit in the KV pool", xlabel="prefix, tokens", ylabel="prefixes")
    if not points:
        axes.text(0.5, 0.5, "none: see the findings", transform=axes.transAxes, ha="center")
        return
    axes.loglog(*zip(*points, strict=True), color=BLUE)
    axes.xaxis.set_major_formatter(_plain)
    axes.yaxis.set_major_formatter(_plain)
    copies = room(ask).copies
    if copies:
        _mark(axes, own.prefix, copies, f"this plan: {copies:,}")


def _money(axes: "Axes", ask: Ask) -> None:
    """What the prefix costs by how often it is used, and where a cache begins to pay."""
    offer = ask.offer
    assert isinstance(offer, Offer)
    reads = reads_to_break_even(offer, ask.gap)
    if not offer.cached(ask.prompt):
        title, reads = "Money: too short to be cached", None
    elif not lives(offer, ask.gap):
        title, reads = "Money: each use finds it expired", None
    elif reads is None:
        title = "Money: a write never pays"
    else:
        title = f"Money: a write pays after {float(reads):.2f} reads"
    even = 1 + float(reads or 0)
    most = max(MOST_USES, ceil(2 * even))
    uses: Sequence[int] = range(1, most + 1, ceil(most / MOST_POINTS))
    bills = list(money(offer, ask.prompt, uses, ask.gap))
    plain = [float(each.prefix_plain) for each in bills]
    cached = [float(each.prefix) for each in bills]
    axes.plot(uses, plain, color=ORANGE, ls="--", marker="s", markersize=4, label="no cache")
    axes.plot(uses, cached, color=BLUE, marker="o", markersize=4, label="with a cache")
    if reads is not None:
        at = 3 * len(uses) // 4
        gaps = (0.0, cached[at]), (cached[at], plain[at])
        low, high = max(gaps, key=lambda gap: gap[1] - gap[0])
        axes.annotate(
            f"break-even: {even:.2f} uses",
            (even, even * plain[0]),
            xytext=(uses[at], (low + high) / 2),
            ha="center",
            va="center",
            arrowprops={"arrowstyle": "-", "color": GREY},
        )
        axes.plot([even], [even * plain[0]], "o", color="black", markersize=6, zorder=5)
    unit = "dollars" if offer.dollars else "times one plain prefix"
    axes.set(title=title, xlabel="uses, the first included", ylabel=unit)
    axes.set_ylim(bottom=0)
    axes.xaxis.set_major_formatter(_plain)
    axes.legend(loc="upper left")


def _mark(axes: "Axes", x: float, y: float, words: str, *, below: bool = False) -> None:
    """A point and its words, where there is room: above a falling curve that is to the right."""
    axes.plot([x], [y], "o", color="black", markersize=6, zorder=5)
    across, _ = axes.transAxes.inverted().transform(axes.transData.transform((x, y)))
    left = below and across > 0.5
    axes.annotate(
        words,
        (x, y),
        textcoords="offset points",
        xytext=(-8 if left else 8, -16 if below else 10),
        ha="right" if left else "left",
    )


def _with(ask: Ask, prefix: int) -> Ask:
    prompt = Prompt(prefix, ask.prompt.question, ask.prompt.block)
    return replace(ask, prompt=prompt)


def _plain(value: float, _: Any = None) -> str:
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def _short(name: str) -> str:
    stem = name.partition(".")[0]
    return stem if len(stem) <= MOST_LETTERS else f"{stem[: MOST_LETTERS - 1]}…"
