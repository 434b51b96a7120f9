"""What to count by, as a user says it."""

from pathlib import Path

from headstart.insight.asked.count.counter import Counter
from headstart.insight.asked.count.estimate import Estimate
from headstart.insight.asked.count.tokenizer_file import TokenizerFile
from headstart.insight.asked.count.vocabulary import VOCABULARIES, Vocabulary


def counter_of(given: Path | str | None) -> Counter:
    """None: an estimate; a name of VOCABULARIES; else a tokenizer.json. Raises Unreadable."""
    if given is None:
        return Estimate()
    name = str(given)
    return Vocabulary(name) if name in VOCABULARIES else TokenizerFile(Path(given))
