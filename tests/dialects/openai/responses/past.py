"""A past for parsers: turns and items by id."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from headstart.dialects.openai.responses.refusals import item_not_found, previous_not_found
from headstart.dialects.openai.responses.turn import Turn


@dataclass
class KnownPast:
    turns: dict[str, Turn] = field(default_factory=dict)

    def chain(self, response_id: str) -> Sequence[Turn]:
        if response_id not in self.turns:
            raise previous_not_found(response_id)
        turn = self.turns[response_id]
        before = [] if turn.previous is None else list(self.chain(turn.previous))
        return [*before, turn]

    def item(self, item_id: str) -> Mapping[str, Any]:
        for turn in self.turns.values():
            if item_id in turn.ids():
                return turn.item(item_id)
        raise item_not_found(item_id)
