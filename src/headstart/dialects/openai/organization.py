"""The organization that a client of several of them asks for, by OpenAI's header."""

from dataclasses import replace

import msgspec

from headstart.dialects.chat import ChatRequest
from headstart.dialects.dialect import Envelope

HEADER = "openai-organization"
SETTING = "organization"
"""Its name among the settings that the contracts know."""


def within(asked: ChatRequest, envelope: Envelope) -> ChatRequest:
    """The same request, whose prefixes are its organization's alone (rule O15).

    The SDK sends the header where it is told an `organization` (or OPENAI_ORG_ID).
    """
    named = envelope.headers.get(HEADER)
    if not named:
        return asked
    told = {SETTING: msgspec.json.encode(named).decode()}
    return replace(asked, settings={**asked.settings, **told})
