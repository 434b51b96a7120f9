"""The beginning of a conversation's prompt, in several templates and both kinds of tokenizer."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.search import examples
from tests.text.conftest import byte_level, make_directory, sentencepiece_like
from tokenizers import Tokenizer

from headstart.server.beginning import beginning
from headstart.text.chat import Conversation, Message, Tool
from headstart.text.codec import Codec
from headstart.text.errors import TemplateError

__all__ = ["byte_level", "make_directory", "sentencepiece_like"]

TEMPLATES = Path(__file__).parents[1] / "text" / "templates"
SYSTEM, DOC = Message("system", "Be brief."), Message("user", "A document.\nIts end.")
SEEN = Message("assistant", "Seen")
TOOL = Tool("look", "Looks.", {"type": "object", "properties": {"q": {"type": "string"}}})
TURN = (DOC, SEEN)


@pytest.fixture(params=["llama3", "mistral", "qwen"])
def codec(
    request: Any, byte_level: Tokenizer, sentencepiece_like: Tokenizer, make_directory: Any
) -> Codec:
    template = (TEMPLATES / f"{request.param}.jinja").read_text()
    tokenizer = sentencepiece_like if request.param == "mistral" else byte_level
    tokens = {"bos_token": "<s>", "eos_token": "</s>"} if request.param == "mistral" else {}
    return Codec.from_directory(make_directory(tokenizer, chat_template=template, **tokens))


def common(codec: Codec, asked: Conversation, *more: Message) -> tuple[list[int], list[int]]:
    """The beginning, and as much of the prompt that goes on with `more`."""
    ids = list(beginning(codec, asked, "t"))
    longer = Conversation((*asked.messages, *more), asked.tools)
    return ids, list(codec.encode_chat(longer))[: len(ids)]


@settings(max_examples=examples(15), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(said=st.text(alphabet=" \nab.é<|", min_size=1, max_size=6))
def test_every_continuation_begins_with_it(codec: Codec, said: str) -> None:
    ids, same = common(codec, Conversation(TURN), Message("user", said))
    assert ids == same


@pytest.mark.parametrize(
    "asked",
    [
        Conversation((SYSTEM,)),
        Conversation((), (TOOL,)),
        Conversation((SYSTEM,), (TOOL,)),
        Conversation((SYSTEM, *TURN), (TOOL,)),
        Conversation((SYSTEM, DOC)),
    ],
    ids=["system", "tools", "system and tools", "all", "a document"],
)
def test_it_holds_all_that_is_in_it(codec: Codec, asked: Conversation) -> None:
    ids, same = common(codec, asked, Message("user", "Why?"))
    assert ids == same
    shown = codec.decode(ids, skip_special=False)
    for text in expected(codec, asked):
        assert text in shown


def expected(codec: Codec, asked: Conversation) -> list[str]:
    texts = [message.content or "" for message in asked.messages]
    if codec.tool_format.name == "mistral" and DOC in asked.messages:
        texts.remove(SYSTEM.content or "")  # That template has it in the last message.
    return [*texts, *(text for tool in asked.tools for text in (tool.name, '"q"'))]


def test_another_text_has_another_beginning(codec: Codec) -> None:
    one = beginning(codec, Conversation((DOC,)), "t")
    other = beginning(codec, Conversation((Message("user", "A document.\nIts END."),)), "t")
    assert one != other


def test_what_no_message_may_follow_is_refused(
    sentencepiece_like: Tokenizer, make_directory: Any
) -> None:
    template = "{{ raise_exception('Never.') }}"
    codec = Codec.from_directory(make_directory(sentencepiece_like, chat_template=template))
    with pytest.raises(TemplateError, match="Never"):
        beginning(codec, Conversation((DOC,)), "t")
