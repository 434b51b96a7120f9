"""Which layers attend to a window only, as configs of several families say it."""

from headstart.insight.plan.errors import PlanError
from headstart.insight.plan.fields import Fields

FULL, SLIDING = "full_attention", "sliding_attention"


def windows(
    fields: Fields,
    *,
    default: int = 0,
    alternating: bool = False,
    every: int = 0,
    pattern: int = 0,
    opt_in: bool = False,
) -> list[int | None]:
    """The window of each layer, None for full attention. Raises PlanError.

    Where no `layer_types` tell: `alternating` is windowed, full, windowed, …; of `every` the n-th
    and the last layer are full, of `pattern` (or a `sliding_window_pattern`) the n-th; Qwen's
    `use_sliding_window` begins at `max_window_layers`; else all layers have the window, if there is
    one. `default` is what a missing (not a null) `sliding_window` means; with `opt_in` a missing
    `use_sliding_window` means no window.
    """
    count = fields.layers
    window = fields.number("sliding_window", default=0, least=0)
    if not window and default and not fields.has("sliding_window"):
        window = default
    if kinds := fields.sequence("layer_types", count):
        return [_window(kind, window) for kind in kinds]
    if not window or not fields.flag("use_sliding_window", default=not opt_in):
        return [None] * count
    if pattern := fields.number("sliding_window_pattern", default=pattern, least=0):
        return [window if (at + 1) % pattern else None for at in range(count)]
    if alternating:
        return [None if at % 2 else window for at in range(count)]
    if every:
        return [None if (at + 1) % every == 0 or at + 1 == count else window for at in range(count)]
    first = 0
    if fields.flag("use_sliding_window"):
        first = fields.number("max_window_layers", default=0, least=0)
    return [window if at >= first else None for at in range(count)]


def _window(kind: object, window: int) -> int | None:
    if kind == FULL:
        return None
    if kind == SLIDING and window:
        return window
    raise PlanError(f"layer_types has {kind!r}, which this architecture isn't known to have.")
