"""What differs for each request, moved behind what stays in the system prompt."""

from collections.abc import Iterable, Sequence

from headstart.insight.asked.piece import EARLY, Piece
from headstart.insight.causes import Cause
from headstart.insight.fix.draft import Draft
from headstart.insight.fix.units import paragraphs, without


def lasting(before: Sequence[Piece], after: Sequence[Piece]) -> set[str]:
    """Paragraphs of the system prompt that two requests share."""
    return _paragraphs(before) & _paragraphs(after)


def _paragraphs(pieces: Iterable[Piece]) -> set[str]:
    texts = (piece.text for piece in pieces if piece.kind in EARLY and piece.kind != "tool")
    return {unit.text for text in texts for unit in paragraphs(text) if unit.text.strip()}


class Behind:
    """Paragraphs that don't last go behind those that do, still in the system prompt."""

    name = "passages moved behind what stays in the system prompt"
    causes = frozenset((Cause.RETRIEVAL, Cause.ORDER))

    def __init__(self, lasting: frozenset[str]) -> None:
        self._lasting = lasting

    def begin(self) -> None:
        """Nothing is remembered."""

    def apply(self, draft: Draft) -> bool:
        """Nothing moves where nothing is known to last behind it."""
        system = draft.system()
        parted = [paragraphs(piece.text) for piece in system]
        stays = [[unit.text in self._lasting for unit in parts] for parts in parted]
        last = max((number for number, each in enumerate(stays) if any(each)), default=-1)
        taken: list[str] = []
        dropped = []
        for number in range(last + 1):
            parts, kept = parted[number], stays[number]
            end = len(kept) if number < last else len(kept) - kept[::-1].index(True)
            gone = [at < end and not stay for at, stay in enumerate(kept)]
            if not any(gone):
                continue
            said = "\n\n".join(unit.text for unit, out in zip(parts, gone, strict=True) if out)
            if all(gone):
                dropped.append(system[number])
            else:
                draft.say(system[number], without(parts, gone))
            taken.append(said)
        for piece in reversed(dropped):
            if not draft.drop(piece):
                return False
        if not taken:
            return False
        draft.reread()
        draft.append(draft.system()[-1], "\n\n".join(taken))
        return True
