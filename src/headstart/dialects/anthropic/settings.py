"""What shapes an answer besides its prompt: thinking, effort, format, speed.

Effort and speed are wishes: they are accepted and change nothing here but the cache's accounting,
as they do at Anthropic. Adaptive thinking leaves it to the model, and this one doesn't think.
"""

from typing import Any

import msgspec

from headstart.dialects.anthropic.check import Strict, one_of
from headstart.dialects.anthropic.tools import Choice
from headstart.dialects.errors import invalid

EFFORTS = ("low", "medium", "high", "xhigh", "max")
SPEEDS = ("standard", "fast")


class ThinkingEnabled(Strict, tag_field="type", tag="enabled", omit_defaults=True):
    """A budget of thoughts: known, so that it can be refused by name."""

    budget_tokens: int
    display: str | None = None


class ThinkingAdaptive(Strict, tag_field="type", tag="adaptive", omit_defaults=True):
    """The model decides when to think."""

    display: str | None = None


class ThinkingDisabled(Strict, tag_field="type", tag="disabled"):
    """No thoughts."""


class ThinkingBetweenTools(Strict, tag_field="type", tag="between_tools"):
    """As little as the model can."""


Thinking = ThinkingEnabled | ThinkingAdaptive | ThinkingDisabled | ThinkingBetweenTools


class JsonFormat(Strict, tag_field="type", tag="json_schema"):
    """The schema the answer has to obey."""

    schema: dict[str, Any]


class OutputConfig(Strict):
    """`output_config`."""

    effort: str | None = None
    format: JsonFormat | None = None


class Settings(Strict, kw_only=True):
    """The fields of a body that are such settings."""

    thinking: Thinking | None = None
    output_config: OutputConfig | None = None
    speed: str | None = None
    tool_choice: Choice | None = None

    def check(self) -> None:
        """Raises ApiError 400 for what this model can't do."""
        if isinstance(self.thinking, ThinkingEnabled):
            raise invalid(
                '"thinking.type.enabled" is not supported for this model: it has no thinking '
                "budget. Leave it out.",
                "thinking",
            )
        one_of(self.speed, SPEEDS, "speed")
        if self.output_config is not None:
            one_of(self.output_config.effort, EFFORTS, "output_config.effort")

    @property
    def json_schema(self) -> str | None:
        """The schema that the answer has to obey, as JSON text."""
        wanted = None if self.output_config is None else self.output_config.format
        return None if wanted is None else msgspec.json.encode(wanted.schema).decode()

    def spelled(self) -> dict[str, str]:
        """Those that were sent, as the cache's rules name them, in JSON."""
        config = self.output_config or OutputConfig()
        values = {
            "speed": self.speed,
            "format": config.format,
            "tool_choice": self.tool_choice,
            "thinking": self.thinking,
            "effort": config.effort,
        }
        return {
            name: msgspec.json.encode(value).decode()
            for name, value in values.items()
            if value is not None
        }
