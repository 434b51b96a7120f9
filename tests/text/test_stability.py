"""Templates that let a conversation grow, and templates that don't."""

from pathlib import Path

import pytest

from headstart.text.chat import Conversation
from headstart.text.codec import Codec
from headstart.text.errors import TemplateError
from headstart.text.stability import Divergence, template_stability
from headstart.text.template import ChatTemplate

TEMPLATES = Path(__file__).parent / "templates"
SPECIAL = {"bos_token": "<s>", "eos_token": "</s>"}
CHATML = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n"
    "{{ message.content }}<|im_end|>\n{% endfor %}{{ '<|im_start|>assistant\n' }}"
)


def check(source: str, *, tools: bool = False) -> dict[str, Divergence]:
    template = ChatTemplate({"default": source}, SPECIAL)
    return {found.case: found for found in template_stability(template.render, tools=tools)}


def family(name: str) -> dict[str, Divergence]:
    return check((TEMPLATES / f"{name}.jinja").read_text(), tools=True)


def test_a_template_that_only_appends_is_stable() -> None:
    assert check(CHATML) == {}
    assert family("qwen") == {}


def test_the_default_model_is_stable(default_codec: Codec) -> None:
    assert template_stability(default_codec.render) == []


def test_tools_that_our_fallback_renders_are_stable() -> None:
    assert check(CHATML, tools=True) == {}


def test_a_template_that_trims_answers_diverges_in_the_answer() -> None:
    found = family("llama3")
    assert found.keys() == {"white space around the answer"}
    (divergence,) = found.values()
    assert (divergence.turn, divergence.message) == (2, 2)
    assert divergence.before.endswith("assistant: ")
    assert divergence.expected == "\n A1: good morning. \n"
    assert divergence.found.startswith("A1: good morning.<|eot_id|>")


def test_a_template_that_moves_the_system_prompt_diverges_there() -> None:
    found = family("mistral")
    assert found.keys() == {
        "plain",
        "white space around the answer",
        "reasoning in the answer",
        "tools",
    }
    divergence = found["plain"]
    assert divergence == Divergence(
        case="plain",
        turn=2,
        message=0,
        index=len("<s>[INST] "),
        before="<s>[INST] ",
        expected="S: be brief.\n\nU1: good morning?[/INST]A1",
        found="U1: good morning?[/INST] A1: good mornin",
    )


def test_turn_02_a_template_that_drops_reasoning_diverges_where_the_answer_begins() -> None:
    dropping = CHATML.replace("message.content }}", "message.content.split('</think>')[-1] }}")
    found = check(dropping)
    assert found.keys() == {"reasoning in the answer"}
    (divergence,) = found.values()
    assert divergence.message == 2
    assert divergence.before.endswith("<|im_start|>assistant\n")
    assert divergence.expected.startswith("<think>\nR1")
    assert divergence.found.startswith("\n\nA1")


def test_a_template_that_numbers_messages_from_the_end_diverges_in_the_first() -> None:
    found = check("{% for m in messages %}{{ loop.revindex }} {{ m.content }}\n{% endfor %}")
    divergence = found["plain"]
    assert (divergence.message, divergence.index, divergence.before) == (0, 0, "")
    assert (divergence.expected[:2], divergence.found[:2]) == ("2 ", "4 ")


def test_a_divergence_behind_the_first_turn_is_found_too() -> None:
    mark = "{{ message.role }}{{ '!' if messages | length == 6 else '' }}"
    marked = CHATML.replace("{{ message.role }}", mark)
    divergence = check(marked)["plain"]
    assert divergence.turn == 4
    assert divergence.before.endswith("<|im_start|>system")


def test_conversations_that_the_template_refuses_are_passed_over() -> None:
    refusing = "{% if messages[0].role == 'system' %}{{ raise_exception('no') }}{% endif %}"
    assert check(refusing + CHATML) == {}


def test_a_rendering_without_any_generation_prompt_is_judged_by_what_it_writes() -> None:
    def render(conversation: Conversation) -> str:
        return "".join(f"[{message.content}]" for message in conversation.messages)

    (plain, *_) = template_stability(render, tools=False)
    assert (plain.message, plain.expected[:3], plain.found[:3]) == (2, "A1:", "[A1")


def test_other_errors_than_a_refusal_are_not_hidden() -> None:
    def render(conversation: Conversation) -> str:
        raise RuntimeError("broken")

    with pytest.raises(RuntimeError):
        template_stability(render)


def test_a_divergence_says_in_words_what_happened() -> None:
    text = str(family("llama3")["white space around the answer"])
    assert text.startswith("white space around the answer: the prompt behind message 2")
    assert "at character 97 (message 2)" in text


def test_a_template_error_is_a_refusal() -> None:
    def render(conversation: Conversation) -> str:
        raise TemplateError("no")

    assert template_stability(render) == []
