"""OpenAI's automatic prompt caching, up to GPT-5.5: prefixes at fixed intervals.

Rules O12 and O13; docs/contracts.md has their sources and what was decided.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from headstart.contracts.contract import Contract, Refusal
from headstart.contracts.entries import Entries
from headstart.contracts.keys import longest_unit, root, settings_digest, unit_keys
from headstart.contracts.openai_settings import BREAKERS, breaking, check_value
from headstart.contracts.plan import Plan, Trail
from headstart.contracts.prompt import Prompt, digest


@dataclass(frozen=True, slots=True)
class OpenAIInterval(Contract):
    """The rules for one model. What is written costs nothing, and nothing is promised."""

    minimum: int = 1024
    """Tokens of the shortest prefix that is cached."""
    unit: int = 128
    lifetimes: Mapping[str, float] = field(default_factory=lambda: {"in_memory": 600, "24h": 86400})

    def plan(self, prompt: Prompt, entries: Entries, now: float) -> Plan:
        """Reads the longest interval that is known, writes them all.

        The cache key only guides routing here (O14), so it separates nothing.
        """
        _refuse_breakpoints(prompt)
        retention = prompt.wishes.retention or next(iter(self.lifetimes))
        check_value(retention, self.lifetimes, "prompt_cache_retention")
        first = digest(
            root("openai_interval", prompt.model),
            settings_digest(breaking(prompt.settings), BREAKERS),
        )
        keys = unit_keys(first, prompt.ids, self.unit, self.minimum)
        return Plan(
            prompt.tenant,
            prompt.tokens,
            longest_unit(keys, prompt, entries, now, unit=self.unit, minimum=self.minimum),
            trail=Trail(keys, self.lifetimes[retention], retention),
            unit=self.unit,
            minimum=self.minimum,
        )


def _refuse_breakpoints(prompt: Prompt) -> None:
    """These models know neither the options nor the breakpoints of the later ones."""
    if prompt.wishes.told:
        path = "prompt_cache_options"
        raise Refusal(f"Unsupported parameter: '{path}'.", path=path, code="unsupported_parameter")
    for block in prompt.blocks:
        if block.mark is not None:
            path = f"{block.path}.prompt_cache_breakpoint"
            raise Refusal(
                f"{path} is not supported on this model", path=path, code="invalid_parameter"
            )
