"""A `config.json`, read field by field with errors that name the field."""

from collections.abc import Mapping, Sequence
from typing import Any

from headstart.insight.plan.errors import PlanError

MOST = 1 << 40
"""Of any dimension: whatever is more is no config."""
MOST_LAYERS = 10_000


class Fields:
    """The fields of one config object."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    def number(self, *names: str, default: int | None = None, least: int = 1) -> int:
        """The first of `names` that is there and not null. Raises PlanError."""
        for name in names:
            value = self._values.get(name)
            if value is None:
                continue
            if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= MOST:
                raise PlanError(f"{name} must be a whole number of {least} or more, not {value!r}.")
            return value
        if default is None:
            raise PlanError(f"{names[0]} is missing: this is no config of a decoder we know.")
        return default

    @property
    def layers(self) -> int:
        """How many there are. Raises PlanError."""
        count = self.number("num_hidden_layers")
        if count > MOST_LAYERS:
            raise PlanError(f"num_hidden_layers = {count} is more than {MOST_LAYERS}.")
        return count

    def flag(self, name: str, *, default: bool = False) -> bool:
        """A boolean; null is the default."""
        value = self._values.get(name)
        return default if value is None else bool(value)

    def text(self, *names: str) -> str | None:
        """The first of `names` that is a string."""
        return next((v for n in names if isinstance(v := self._values.get(n), str)), None)

    def sequence(self, name: str, length: int) -> Sequence[Any] | None:
        """A list of one entry per layer, if there is one. Raises PlanError for another length."""
        value = self._values.get(name)
        if value is None:
            return None
        if not isinstance(value, list) or len(value) != length:
            raise PlanError(f"{name} must be a list of {length} layers.")
        return value

    def has(self, name: str) -> bool:
        """Whether the field is there, if only as null."""
        return name in self._values

    def raw(self, name: str) -> Any:
        """Whatever is there, or None."""
        return self._values.get(name)
