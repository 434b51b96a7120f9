"""An httpx transport that writes down what is asked of a model; the asking goes on as before."""

from headstart.insight.record.recorder import Recorder
from headstart.insight.record.transport import AsyncRecordingTransport, RecordingTransport

__all__ = ["AsyncRecordingTransport", "Recorder", "RecordingTransport"]
