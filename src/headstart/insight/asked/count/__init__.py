"""How many tokens a text is, offline: by a vocabulary where there is one, else an estimate."""

from headstart.insight.asked.count.choice import counter_of
from headstart.insight.asked.count.counter import Counter, Counts
from headstart.insight.asked.count.estimate import Estimate
from headstart.insight.asked.count.tokenizer_file import TokenizerFile

__all__ = ["Counter", "Counts", "Estimate", "TokenizerFile", "counter_of"]
