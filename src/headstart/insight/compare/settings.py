"""What keeps two requests apart, or some of them, without being text."""

from collections.abc import Mapping

from headstart.contracts import anthropic, openai_settings
from headstart.insight.asked.asked import Asked
from headstart.insight.asked.piece import EARLY
from headstart.insight.causes import Cause
from headstart.insight.compare.broken import Break
from headstart.ledger import Rules


def apart(before: Asked, after: Asked, first: int) -> Break | None:
    """What keeps all of two requests apart, whatever they say."""
    for cause, one, other in (
        (Cause.NAMESPACE, before.tenant, after.tenant),
        (Cause.MODEL, before.model, after.model),
        (Cause.CACHE_KEY, _partition(before), _partition(after)),
    ):
        if one != other:
            return Break(cause, 0, 0, None, one, other, after.pieces[:first])
    return None


def _partition(asked: Asked) -> str:
    """Up to GPT-5.5, and with others, a key only guides routing (rule O14)."""
    apart = Rules.packaged().profile(asked.vendor, asked.model).contract in _PARTITIONED
    return asked.partition if apart else ""


_PARTITIONED = ("openai_breakpoints", "anthropic")


def setting(before: Asked, after: Asked, first: int) -> Break | None:
    """A change of what counts to the prompt without being a piece of it."""
    for name in _breakers(after):
        one, other = before.settings.get(name), after.settings.get(name)
        default = _defaults(after).get(name)
        if (one or default) == (other or default):
            continue
        kept = _kept(after, name)
        lost = [piece for piece in after.pieces[:first] if piece.kind not in kept]
        if not lost:
            continue
        index = next(i for i, piece in enumerate(after.pieces) if piece.kind not in kept)
        cause = _SETTINGS.get(name, Cause.SETTING)
        return Break(cause, index, 0, None, f"{name}: {one}", f"{name}: {other}", lost)
    return None


_SETTINGS = {"tool_choice": Cause.TOOL_CHOICE, "thinking": Cause.THINKING} | dict.fromkeys(
    ("effort", "reasoning.effort"), Cause.THINKING
)


def _breakers(asked: Asked) -> tuple[str, ...]:
    match asked.vendor:
        case "anthropic":
            return (*anthropic.SYSTEM_SETTINGS, *anthropic.MESSAGE_SETTINGS)
        case "openai":
            return openai_settings.BREAKERS
        case _:
            return ()


def _defaults(asked: Asked) -> Mapping[str, str]:
    return anthropic.DEFAULTS if asked.vendor == "anthropic" else openai_settings.DEFAULTS


def _kept(asked: Asked, setting: str) -> frozenset[str]:
    """The pieces that outlive a change of it (the invalidation table of Anthropic's guide)."""
    if asked.vendor != "anthropic":
        return frozenset()
    return frozenset(EARLY) if setting in anthropic.MESSAGE_SETTINGS else frozenset(("tool",))
