"""All kinds of recordings, in the order in which they are asked."""

from collections.abc import Sequence

from headstart.insight.asked.files.answers import ANSWERS
from headstart.insight.asked.files.batch_output import BATCH_OUTPUT
from headstart.insight.asked.files.bodies import BODIES
from headstart.insight.asked.files.kind import Kind
from headstart.insight.asked.files.langfuse import LANGFUSE
from headstart.insight.asked.files.litellm import LITELLM
from headstart.insight.asked.files.message_batch import MESSAGE_BATCH
from headstart.insight.asked.files.message_results import MESSAGE_RESULTS
from headstart.insight.asked.files.otlp import OTLP
from headstart.insight.asked.files.recorded import RECORDED

KINDS: Sequence[Kind] = (
    OTLP,
    LITELLM,
    LANGFUSE,
    MESSAGE_BATCH,
    MESSAGE_RESULTS,
    BATCH_OUTPUT,
    RECORDED,
    ANSWERS,
    BODIES,
)
