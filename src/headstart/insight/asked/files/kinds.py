"""All kinds of recordings, in the order in which they are asked."""

from collections.abc import Sequence

from headstart.insight.asked.files.bodies import BODIES
from headstart.insight.asked.files.kind import Kind
from headstart.insight.asked.files.recorded import RECORDED

KINDS: Sequence[Kind] = (RECORDED, BODIES)
