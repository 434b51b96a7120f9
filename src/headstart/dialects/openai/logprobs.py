"""Log probabilities in the shapes of chat completions and of the older text completions."""

import codecs
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from headstart.dialects.logprobs import TokenLogprob

FLOOR = -9999.0
"""What OpenAI reports for a token that can't happen; JSON has no minus infinity."""


def chat_logprobs(tokens: Sequence[TokenLogprob]) -> dict[str, Any]:
    """`choices[].logprobs` of a chat completion or chunk."""
    content = [
        {**_entry(token), "top_logprobs": [_entry(other) for other in token.top]}
        for token in tokens
    ]
    return {"content": content, "refusal": None}


def _entry(token: TokenLogprob) -> dict[str, Any]:
    return {
        "token": token.data.decode(errors="replace"),
        "logprob": max(token.logprob, FLOOR),
        "bytes": list(token.data),
    }


@dataclass(slots=True)
class LegacyLogprobs:
    """Renders `choices[].logprobs` of one text completion, piece by piece.

    `text_offset` counts characters of the choice's text; a token that only finishes a character
    lies where that character begins.
    """

    offset: int = 0
    _decoder: codecs.IncrementalDecoder = field(
        default_factory=lambda: codecs.getincrementaldecoder("utf-8")("replace")
    )

    def render(self, tokens: Sequence[TokenLogprob]) -> dict[str, Any]:
        """The four parallel lists for the next tokens of the choice."""
        offsets = []
        for token in tokens:
            if not _continues(token.data):
                # What is left of an unfinished character shows as a replacement before this token.
                self.offset += len(self._decoder.decode(b"", final=True))
            offsets.append(self.offset)
            self.offset += len(self._decoder.decode(token.data))
        return {
            "tokens": [_legacy_text(token.data) for token in tokens],
            "token_logprobs": [max(token.logprob, FLOOR) for token in tokens],
            "top_logprobs": [
                {_legacy_text(other.data): max(other.logprob, FLOOR) for other in token.top}
                for token in tokens
            ],
            "text_offset": offsets,
        }


def _continues(data: bytes) -> bool:
    """Whether the bytes go on with a character begun before them."""
    return not data or 0x80 <= data[0] < 0xC0


def _legacy_text(data: bytes) -> str:
    """Half characters are spelled `bytes:\\xe2\\x82`, so that different ones stay apart as keys."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return "bytes:" + "".join(f"\\x{byte:02x}" for byte in data)
