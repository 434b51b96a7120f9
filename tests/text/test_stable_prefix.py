import pytest
from tests.text.conversations import WEATHER

from headstart.text.chat import Conversation, Message
from headstart.text.codec import Codec
from headstart.text.stable_prefix import CONTINUATIONS, stable_messages, stable_text

SYSTEM = Message("system", "You are the help desk of a library. Be brief")
NEW = ["hello", "Zürich", "東京", "1234", "  x", "\t", "...", "!", "{", "I", "🙂"]
"""How prompts go on that were not tried."""


@pytest.mark.parametrize("more", NEW)
def test_every_prompt_that_begins_with_the_messages_begins_with_the_ids(
    default_codec: Codec, more: str
) -> None:
    ids = stable_messages(default_codec, Conversation((SYSTEM,)))
    later = (Message("assistant", "Yes?"), Message("user", "Thanks."))
    for rest in ((Message("user", more),), (Message("user", more), *later)):
        prompt = default_codec.encode_chat(Conversation((SYSTEM, *rest)))
        assert list(prompt[: len(ids)]) == ids


def test_all_of_the_messages_is_in_the_ids_and_nothing_of_what_follows(
    default_codec: Codec,
) -> None:
    text = default_codec.decode(
        stable_messages(default_codec, Conversation((SYSTEM,))), skip_special=False
    )
    assert text.startswith(f"<|im_start|>system\n{SYSTEM.content}<|im_end|>")
    assert "user" not in text.removeprefix("<|im_start|>system")
    assert "assistant" not in text


def test_tools_are_a_part_of_what_is_shared(default_codec: Codec) -> None:
    plain = stable_messages(default_codec, Conversation((SYSTEM,)))
    with_tools = stable_messages(default_codec, Conversation((SYSTEM,), (WEATHER,)))
    assert len(with_tools) > len(plain)
    prompt = Conversation((SYSTEM, Message("user", "Weather?")), (WEATHER,))
    assert list(default_codec.encode_chat(prompt)[: len(with_tools)]) == with_tools


@pytest.mark.parametrize("more", NEW)
@pytest.mark.parametrize("text", ["Answer in one wor", "One word:", "One word.\n\n", "1 2 3", "a "])
def test_every_text_that_goes_on_begins_with_the_ids(
    default_codec: Codec, text: str, more: str
) -> None:
    ids = stable_text(default_codec, text)
    assert list(default_codec.encode_prompt(text + more)[: len(ids)]) == ids


def test_a_last_word_that_may_go_on_is_no_part_of_what_is_shared(default_codec: Codec) -> None:
    text = default_codec.decode(stable_text(default_codec, "Answer in one wor"))
    assert text == "Answer in one"


def test_continuations_are_of_many_kinds() -> None:
    """Letters of both cases, a digit, spaces, line ends, marks, and what is not ASCII."""
    kinds = {
        (each.isalpha(), each.isupper(), each.isdigit(), each.isspace(), each.isascii())
        for each in CONTINUATIONS
    }
    assert len(kinds) >= 6
