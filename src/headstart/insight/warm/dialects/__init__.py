"""The APIs that can be warmed, by the names that plans give them."""

from collections.abc import Mapping

from headstart.insight.warm.dialects.anthropic import Anthropic
from headstart.insight.warm.dialects.dialect import Dialect
from headstart.insight.warm.dialects.gemini import CachedContents, GeminiGenerate
from headstart.insight.warm.dialects.headstart import Headstart
from headstart.insight.warm.dialects.openai_chat import DeepSeek, OpenAIChat
from headstart.insight.warm.dialects.openai_responses import OpenAIResponses

DIALECTS: Mapping[str, Dialect] = {
    "anthropic": Anthropic(),
    "openai-responses": OpenAIResponses(),
    "openai-chat": OpenAIChat(),
    "deepseek": DeepSeek(),
    "gemini": CachedContents(),
    "gemini-generate": GeminiGenerate(),
    "headstart": Headstart(),
}
