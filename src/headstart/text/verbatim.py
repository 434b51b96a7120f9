"""JSON that remembers how it was written.

A model's own call `{"a":1}` must come back into the next prompt as `{"a":1}`, not as `{"a": 1}`, or
the prompt no longer extends what was generated (TURN-05). Templates want an object to look into,
so arguments are an ordinary dict that also keeps its source for `tojson`.
"""

import json
from typing import Any, Self


class VerbatimObject(dict[str, Any]):
    """A JSON object and the text it was parsed from."""

    __slots__ = ("source",)

    def __init__(self, source: str) -> None:
        """Parse `source`. Raises ValueError unless it is one JSON object."""
        value = json.loads(source, parse_constant=_refuse_constant)
        if not isinstance(value, dict):
            raise ValueError("not a JSON object")
        super().__init__(value)
        self.source = source

    @classmethod
    def shown(cls, source: str) -> Self:
        """Written like `source`, whatever that is; unless it is an object, it looks empty.

        A call that was cut comes back in its conversation; refused, it would end that for good.
        """
        try:
            return cls(source if source.strip() else "{}")
        except ValueError:
            broken = cls("{}")
            broken.source = source
            return broken


def dump_verbatim(value: Any, *, ensure_ascii: bool = False) -> str:
    """Compact JSON as `json.dumps` writes it, with every VerbatimObject as it was written."""
    if isinstance(value, VerbatimObject):
        return value.source
    if isinstance(value, dict):
        members = (
            f"{json.dumps(str(key), ensure_ascii=ensure_ascii)}: "
            f"{dump_verbatim(item, ensure_ascii=ensure_ascii)}"
            for key, item in value.items()
        )
        return "{" + ", ".join(members) + "}"
    if isinstance(value, list | tuple):
        items = (dump_verbatim(item, ensure_ascii=ensure_ascii) for item in value)
        return "[" + ", ".join(items) + "]"
    return json.dumps(value, ensure_ascii=ensure_ascii)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
