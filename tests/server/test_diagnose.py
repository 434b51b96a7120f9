"""Diagnoses are in the words of the contract that the model is under, or none can be given."""

from tests.server.test_compared import prompt

from headstart.contracts.anthropic import Anthropic
from headstart.contracts.diagnosis import Diagnosis
from headstart.contracts.engine import Engine
from headstart.contracts.openai_breakpoints import OpenAIBreakpoints
from headstart.server.diagnose import in_anthropics_words, in_openais_words


def test_a_prompt_that_goes_on_has_no_diagnosis_and_another_has() -> None:
    rules, earlier = Anthropic(1024), prompt(b"one", b"two")
    assert in_anthropics_words(rules, earlier, prompt(b"one", b"two", b"three")) is None
    changed = in_anthropics_words(rules, earlier, prompt(b"one", b"zwei"))
    assert changed == Diagnosis("messages_changed", missed=10)
    unknown = in_anthropics_words(rules, None, prompt(b"one"))
    assert unknown == Diagnosis("previous_message_not_found")


def test_openais_words_tell_a_hit_by_what_was_read() -> None:
    earlier = prompt(b"one")
    assert in_openais_words(OpenAIBreakpoints(minimum=1), earlier, earlier, 10) == Diagnosis(
        "cache_hit"
    )


def test_under_another_contract_nothing_can_be_said() -> None:
    earlier = prompt(b"one")
    assert in_anthropics_words(Engine(), earlier, earlier) == Diagnosis("unavailable")
    assert in_openais_words(Engine(), earlier, earlier, 10) == Diagnosis("unavailable")
    unknown = in_openais_words(Engine(), None, earlier, 10)
    assert unknown == Diagnosis("comparison_response_not_found")
