"""Answers come back with the ids they were generated with (TURN-01)."""

import dataclasses
import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.text.conversations import WEATHER
from tests.text.growing_texts import nasty_text
from tokenizers import Tokenizer

from headstart.text.chat import Conversation, Message, ToolCall
from headstart.text.codec import Codec

FIXTURES = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
CHATML = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    "{{ message['content'] }}<|im_end|>\n{% endfor %}{{ '<|im_start|>assistant\n' }}"
)
TRIMMING = CHATML.replace("message['content'] }}", "message['content'] | trim }}")
MISTRAL = (Path(__file__).parent / "templates" / "mistral.jinja").read_text()
QWEN = (Path(__file__).parent / "templates" / "qwen.jinja").read_text()


@pytest.fixture
def make_codec(byte_level: Tokenizer, make_directory: Any) -> Any:
    def make(template: str = CHATML, tokenizer: Tokenizer = byte_level) -> Codec:
        tokens = {"bos_token": "<s>", "eos_token": "</s>"} if tokenizer is not byte_level else {}
        return Codec.from_directory(make_directory(tokenizer, chat_template=template, **tokens))

    return make


@pytest.fixture
def codec(make_codec: Any) -> Codec:
    return make_codec()  # type: ignore[no-any-return]


def asked(*turns: str) -> Conversation:
    roles = ("user", "assistant") * len(turns)
    return Conversation(tuple(map(Message, roles, turns)))  # type: ignore[arg-type]


def spelled(codec: Codec, text: str) -> list[int]:
    """Ids that no tokenizer would choose: one for each byte."""
    by_bytes = {codec.token_bytes(id_): id_ for id_ in reversed(range(codec.vocab_size))}
    return [by_bytes[bytes([byte])] for byte in text.encode()]


def end_of_turn(codec: Codec) -> int:
    (end,) = codec.encode("<|im_end|>")
    return end


def decoded(codec: Codec, ids: Sequence[int]) -> str:
    return codec.decode(ids, skip_special=False)


def test_turn_01_an_answer_comes_back_with_the_ids_it_was_generated_with(codec: Codec) -> None:
    answer = spelled(codec, "The quick brown fox, naïve 🙂!")
    prompt = codec.encode_chat(asked("Say it"), "a")
    assert codec.remember("a", prompt, [*answer, end_of_turn(codec)])
    conversation = asked("Say it", "The quick brown fox, naïve 🙂!", "Again")
    ids = codec.encode_chat(conversation, "a")
    assert list(ids[: len(prompt) + len(answer)]) == [*prompt, *answer]
    assert ids[len(prompt) + len(answer)] == end_of_turn(codec)
    assert decoded(codec, ids) == codec.render(conversation)
    assert list(ids) != codec.encode_chat(conversation)


def test_without_an_answer_to_know_ids_are_those_of_a_full_encoding(codec: Codec) -> None:
    for turns in (("Say it",), ("Say it", "The quick fox", "Again")):
        assert list(codec.encode_chat(asked(*turns), "a")) == codec.encode_chat(asked(*turns))


def test_every_answer_of_a_long_conversation_keeps_its_ids(codec: Codec) -> None:
    turns, chain = ["Begin"], list[int]()
    for number in range(12):
        prompt = codec.encode_chat(asked(*turns), "a")
        assert list(prompt[: len(chain)]) == chain
        text = f"The quick answer number {number} " * 20
        answer = spelled(codec, text)
        assert codec.remember("a", prompt, [*answer, end_of_turn(codec)])
        chain = [*prompt, *answer]
        turns += [text, f"Question {number}"]


@pytest.mark.parametrize("system", ["", "Be the quick brown fox. " * 100])
def test_short_chats_with_one_beginning_each_find_their_own_answer(
    codec: Codec, system: str
) -> None:
    questions = [f"{system}{number}?" for number in range(40)]
    chains = []
    for number, question in enumerate(questions):
        prompt = codec.encode_chat(asked(question), "a")
        answer = spelled(codec, f"the {number}")
        codec.remember("a", prompt, answer)
        chains.append([*prompt, *answer])
    for number, (question, chain) in enumerate(zip(questions, chains, strict=True)):
        ids = codec.encode_chat(asked(question, f"the {number}", "And?"), "a")
        assert list(ids[: len(chain)]) == chain


def test_all_answers_to_one_prompt_are_known(codec: Codec) -> None:
    prompt = codec.encode_chat(asked("Choose"), "a")
    answers = ["the fox", "the fox.", "the dog", "th"]
    for text in answers:
        assert codec.remember("a", prompt, spelled(codec, text))
    for text in (*answers, *answers):
        chain = [*prompt, *spelled(codec, text)]
        ids = codec.encode_chat(asked("Choose", text, "And?"), "a")
        assert list(ids[: len(chain)]) == chain


@pytest.mark.parametrize("text", ["the quick", "the quick fox!", "The quick fox", " the quick fox"])
def test_an_answer_that_was_changed_is_encoded_as_any_text(codec: Codec, text: str) -> None:
    prompt = codec.encode_chat(asked("Say it"), "a")
    codec.remember("a", prompt, spelled(codec, "the quick fox"))
    conversation = asked("Say it", text, "Again")
    assert list(codec.encode_chat(conversation, "a")) == codec.encode_chat(conversation)


def test_after_a_changed_answer_the_generated_one_is_still_known(codec: Codec) -> None:
    prompt = codec.encode_chat(asked("Say it"), "a")
    answer = spelled(codec, "the quick fox")
    codec.remember("a", prompt, answer)
    codec.encode_chat(asked("Say it", "the quick fox!", "Again"), "a")
    ids = codec.encode_chat(asked("Say it", "the quick fox", "Again"), "a")
    assert list(ids[: len(prompt) + len(answer)]) == [*prompt, *answer]


def test_prs_10_another_scope_knows_nothing_of_an_answer(codec: Codec) -> None:
    prompt = codec.encode_chat(asked("Say it"), "a")
    codec.remember("a", prompt, spelled(codec, "the quick fox"))
    conversation = asked("Say it", "the quick fox", "Again")
    for scope in ("b", None):
        assert list(codec.encode_chat(conversation, scope)) == codec.encode_chat(conversation)
    assert not codec.remember("b", prompt, spelled(codec, "the"))


def test_white_space_that_the_template_trims_is_left_out(make_codec: Any) -> None:
    codec = make_codec(TRIMMING)
    prompt = codec.encode_chat(asked("Say it"), "a")
    answer = spelled(codec, "the quick fox")
    codec.remember("a", prompt, [*answer, *spelled(codec, " \n\n"), end_of_turn(codec)])
    conversation = asked("Say it", "the quick fox \n\n", "Again")
    ids = codec.encode_chat(conversation, "a")
    assert list(ids[: len(prompt) + len(answer) + 1]) == [*prompt, *answer, end_of_turn(codec)]
    assert decoded(codec, ids) == codec.render(conversation)


def test_an_answer_cut_inside_a_character_is_not_remembered(codec: Codec) -> None:
    prompt = codec.encode_chat(asked("Say it"), "a")
    assert not codec.remember("a", prompt, spelled(codec, "🙂")[:-1])


@pytest.mark.parametrize("answer", [[], ["<|im_end|>"]])
def test_an_empty_answer_is_not_remembered(codec: Codec, answer: list[str]) -> None:
    prompt = codec.encode_chat(asked("Say it"), "a")
    assert not codec.remember("a", prompt, codec.encode("".join(answer)))


def test_an_answer_to_a_prompt_that_was_not_encoded_here_is_not_remembered(codec: Codec) -> None:
    assert not codec.remember("a", codec.encode("never seen"), spelled(codec, "the"))


def test_special_tokens_that_an_answer_only_spells_stay_text(codec: Codec) -> None:
    """Tokenised again, the user could make the assistant end its turn."""
    text = "Write <|im_end|> here"
    prompt = codec.encode_chat(asked("Say it"), "a")
    answer = spelled(codec, text)
    codec.remember("a", prompt, [*answer, end_of_turn(codec)])
    ids = codec.encode_chat(asked("Say it", text, "Again"), "a")
    assert list(ids[: len(prompt) + len(answer)]) == [*prompt, *answer]


@pytest.mark.parametrize(
    ("arguments", "spliced"), [('{"city":"Paris"}', True), ('{"city": "Paris"}', False)]
)
def test_turn_05_a_call_keeps_its_ids_if_it_is_rendered_as_it_was_written(
    make_codec: Any, arguments: str, spliced: bool
) -> None:
    codec = make_codec(QWEN.replace("'<|im_start|>assistant\\n' }}", "'<|im_start|>assistant' }}"))
    first = Conversation((Message("user", "Weather?"),), (WEATHER,))
    prompt = codec.encode_chat(first, "a")
    written = '\n<tool_call>\n{"name": "get_weather", "arguments": {"city":"Paris"}}\n</tool_call>'
    answer = spelled(codec, written)
    codec.remember("a", prompt, [*answer, end_of_turn(codec)])
    call = Message("assistant", tool_calls=(ToolCall("call1", "get_weather", arguments),))
    result = Message("tool", "21", tool_call_id="call1")
    then = dataclasses.replace(first, messages=(*first.messages, call, result))
    ids = codec.encode_chat(then, "a")
    assert (list(ids[: len(prompt) + len(answer)]) == [*prompt, *answer]) is spliced
    assert (list(ids) == codec.encode_chat(then)) is not spliced


def test_sentencepieces_first_space_belongs_to_the_answer(
    make_codec: Any, sentencepiece_like: Tokenizer
) -> None:
    codec = make_codec(MISTRAL, sentencepiece_like)
    prompt = codec.encode_chat(asked("Say it"), "a")
    vocabulary = json.loads(codec.tokenizer_json)["model"]["vocab"]
    answer = [vocabulary.get(p, vocabulary[f"<0x{ord(p) % 256:02X}>"]) for p in "▁quick"]
    assert codec.remember("a", prompt, [*answer, codec.eos_ids[0]])
    ids = codec.encode_chat(asked("Say it", "quick", "Again"), "a")
    chain = [*prompt, *answer, codec.eos_ids[0]]
    assert list(ids[: len(chain)]) == chain


def test_a_bare_prompts_answer_is_known_too(codec: Codec) -> None:
    prompt = codec.encode_prompt("The quick", "a")
    assert codec.bos_id is None or prompt[0] == codec.encode("<|begin_of_text|>")[0]
    answer = spelled(codec, " brown fox")
    assert codec.remember("a", prompt, answer)
    assert list(codec.encode_prompt("The quick brown fox", "a")) == [*prompt, *answer]


answers = st.lists(
    st.tuples(nasty_text, nasty_text, st.lists(st.integers(0, 420), max_size=12)),
    min_size=1,
    max_size=5,
)


def test_a_prompt_that_is_asked_again_after_a_long_conversation_may_get_another_answer(
    codec: Codec,
) -> None:
    turns = ["Choose"]
    for branch in ("left", "right"):
        turns = turns[:1]
        for number in range(8):
            codec.encode_chat(asked(*turns), "a")
            turns += [branch, str(number)]
    prompt = codec.encode_chat(asked("Choose"), "a")
    for text in ("the fox", "the dog"):
        answer = spelled(codec, text)
        assert codec.remember("a", prompt, answer)
        ids = codec.encode_chat(asked("Choose", text, "And?"), "a")
        assert list(ids[: len(prompt) + len(answer)]) == [*prompt, *answer]


SCOPES = map(str, itertools.count())


@FIXTURES
@given(turns=answers)
def test_ids_always_spell_the_rendered_text(codec: Codec, turns: Any) -> None:
    """The model says whatever it likes; sometimes another answer is sent back than it gave."""
    scope = next(SCOPES)
    spoken: list[str] = []
    chain: list[int] = []
    for question, other, generated in turns:
        spoken.append(question)
        conversation = asked(*spoken)
        ids = codec.encode_chat(conversation, scope)
        assert decoded(codec, ids) == codec.render(conversation)
        assert list(ids[: len(chain)]) == chain
        answer = [id_ for id_ in generated if id_ not in codec.eos_ids]
        text = codec.decode(answer, skip_special=False)
        if other and len(other) % 3 == 0:
            spoken.append(other)
        else:
            known = codec.remember(scope, ids, answer)
            assert known is (bool(text) and "\ufffd" not in text)
            spoken.append(text)
            chain = [*ids, *answer] if known else chain
