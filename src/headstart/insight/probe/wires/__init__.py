"""How an endpoint is asked: one file per dialect. A new one is a file and a line here."""

from collections.abc import Mapping

from headstart.insight.probe.wires.anthropic import AnthropicWire
from headstart.insight.probe.wires.base import Form, Heard, Wire
from headstart.insight.probe.wires.chat import ChatWire
from headstart.insight.probe.wires.gemini import GeminiWire
from headstart.insight.probe.wires.responses import ResponsesWire

__all__ = ["WIRES", "Form", "Heard", "Wire"]

WIRES: Mapping[str, Wire] = {
    "openai-chat": ChatWire("openai", ("OPENAI_API_KEY",)),
    "openai-responses": ResponsesWire(),
    "anthropic": AnthropicWire(),
    "gemini": GeminiWire(),
    "deepseek": ChatWire("deepseek", ("DEEPSEEK_API_KEY",)),
}
"""By the name that --dialect takes."""
