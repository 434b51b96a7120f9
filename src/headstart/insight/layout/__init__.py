"""Prompts in four segments, by how long each part stays the same; what never changes comes first.

`PromptLayout` makes such prompts, `headstart layout` finds the segments of those that there are.
"""

from headstart.insight.layout.prompt_layout import PromptLayout
from headstart.insight.layout.stages import OutOfOrder
from headstart.insight.layout.steady import Volatile

__all__ = ["OutOfOrder", "PromptLayout", "Volatile"]
