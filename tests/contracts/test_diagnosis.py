"""What the vendors' diagnostics say of two requests."""

from typing import Any

import pytest
from tests.contracts.build import assistant, prompt, system, tool, user

from headstart.contracts.anthropic import Anthropic
from headstart.contracts.diagnosis import Diagnosis
from headstart.contracts.openai_breakpoints import OpenAIBreakpoints
from headstart.contracts.prompt import Prompt

BEFORE = [tool(100), system(200), user(300, "a"), assistant(400, "b"), user(500, "c")]


def changed(index: int, text: str = "edited") -> list[Any]:
    parts = [*BEFORE]
    was = parts[index]
    parts[index] = type(was)(was.kind, was.tokens, text)
    return parts


class TestAnthropic:
    """Rule A19: the type documents of the SDK, and the diagnostics guide."""

    def diagnose(self, previous: Prompt | None, current: Prompt) -> Diagnosis | None:
        return Anthropic(minimum=1024).diagnose(previous, current)

    def test_a_prompt_that_only_grew_has_no_divergence(self) -> None:
        before = prompt(*BEFORE)
        assert self.diagnose(before, prompt(*BEFORE, assistant(10, "d"), user(10, "e"))) is None
        assert self.diagnose(before, before) is None

    def test_an_unknown_message_is_not_found(self) -> None:
        assert self.diagnose(None, prompt(user())) == Diagnosis("previous_message_not_found")

    @pytest.mark.parametrize(
        ("current", "type_", "missed"),
        [
            (prompt(*BEFORE, model="other"), "model_changed", 1500),
            (prompt(*BEFORE, settings={"speed": "fast"}), "model_changed", 1500),
            (prompt(*changed(1)), "system_changed", 1400),
            (prompt(*changed(0)), "tools_changed", 1500),
            (prompt(tool(100), tool(7, "new"), *BEFORE[1:]), "tools_changed", 1400),
            (prompt(*BEFORE[1:]), "tools_changed", 1500),
            (prompt(*BEFORE[:2], system(9, "new"), *BEFORE[2:]), "system_changed", 1200),
            (prompt(*changed(2)), "messages_changed", 1200),
            (prompt(*changed(4)), "messages_changed", 500),
            (prompt(*BEFORE[:4]), "messages_changed", 500),
        ],
    )
    def test_a_change_is_named_with_the_tokens_behind_it(
        self, current: Prompt, type_: str, missed: int
    ) -> None:
        assert self.diagnose(prompt(*BEFORE), current) == Diagnosis(type_, missed=missed)

    @pytest.mark.parametrize("name", ["tool_choice", "thinking", "effort", "images", "web_search"])
    def test_another_parameter_that_shapes_the_prompt_is_unavailable(self, name: str) -> None:
        current = prompt(*BEFORE, settings={name: "other"})
        assert self.diagnose(prompt(*BEFORE), current) == Diagnosis("unavailable")

    def test_a_default_that_is_said_is_no_change(self) -> None:
        current = prompt(*BEFORE, settings={"effort": '"high"', "speed": '"standard"'})
        assert self.diagnose(prompt(*BEFORE), current) is None

    def test_the_model_comes_first_then_system_then_tools_then_messages(self) -> None:
        every = [tool(1, "x"), system(1, "x"), user(1, "x")]
        before = prompt(*BEFORE)
        types = [
            self.diagnose(before, prompt(*every, model="other")),
            self.diagnose(before, prompt(*every)),
            self.diagnose(before, prompt(every[0], BEFORE[1], every[2])),
            self.diagnose(before, prompt(*BEFORE[:2], every[2])),
        ]
        assert [found and found.type for found in types] == [
            "model_changed",
            "system_changed",
            "tools_changed",
            "messages_changed",
        ]


class TestOpenAI:
    """Rule O21: the type documents of the SDK, and the diagnostics guide."""

    def diagnose(self, previous: Prompt | None, current: Prompt, read: int = 1) -> Diagnosis:
        return OpenAIBreakpoints(minimum=100).diagnose(previous, current, read)

    def test_an_unknown_response_is_not_found(self) -> None:
        assert self.diagnose(None, prompt(user())).type == "comparison_response_not_found"

    def test_a_prompt_that_only_grew_and_read_is_a_hit(self) -> None:
        grown = prompt(*BEFORE, assistant(10), user(10))
        assert self.diagnose(prompt(*BEFORE), grown) == Diagnosis("cache_hit")

    def test_a_prompt_that_only_grew_and_read_nothing_has_no_reason_of_the_nine(self) -> None:
        assert self.diagnose(prompt(*BEFORE), prompt(*BEFORE), read=0).type == "unavailable"

    @pytest.mark.parametrize(
        ("current", "reason", "missed"),
        [
            (prompt(*BEFORE, model="other"), "model_changed", 1500),
            (prompt(*BEFORE, partition="other"), "prompt_cache_key_changed", 1500),
            (prompt(*changed(0)), "tools_changed", 1500),
            (prompt(tool(100), tool(7, "new"), *BEFORE[1:]), "tools_changed", 1400),
            (prompt(*BEFORE, settings={"text.format": "json"}), "text_format_changed", 1500),
            (
                prompt(*BEFORE, settings={"reasoning.effort": "low"}),
                "reasoning_effort_changed",
                1500,
            ),
            (prompt(*BEFORE, settings={"text.verbosity": "low"}), "verbosity_changed", 1500),
            (prompt(*BEFORE, settings={"compaction": "cmp_1"}), "context_compacted", 1500),
            (prompt(*changed(3)), "input_changed", 900),
            (prompt(*BEFORE[:3]), "input_changed", 900),
            (prompt(*BEFORE, settings={"service_tier": "flex"}), "service_tier_changed", 1500),
        ],
    )
    def test_each_of_the_nine_reasons(self, current: Prompt, reason: str, missed: int) -> None:
        found = self.diagnose(prompt(*BEFORE), current)
        assert found == Diagnosis("cache_miss", reason, missed, 1500)

    def test_a_change_behind_all_that_could_be_read_is_no_miss(self) -> None:
        before = prompt(*BEFORE, assistant(50, "said"))
        assert self.diagnose(before, prompt(*BEFORE, assistant(50, "other"))).type == "cache_hit"

    def test_what_left_nothing_to_read_cannot_be_compared(self) -> None:
        assert self.diagnose(prompt(user(99)), prompt(user(99))).type == "unavailable"
        explicit = prompt(*BEFORE, mode="explicit")
        assert self.diagnose(explicit, prompt(*BEFORE)).type == "unavailable"

    def test_a_change_that_has_no_reason_is_unavailable(self) -> None:
        current = prompt(*BEFORE, settings={"parallel_tool_calls": "false"})
        assert self.diagnose(prompt(*BEFORE), current).type == "unavailable"
