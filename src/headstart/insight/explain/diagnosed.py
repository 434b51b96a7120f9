"""What the vendor's own cache diagnostics would answer, by its contract."""

from dataclasses import dataclass

from headstart.contracts.anthropic import Anthropic
from headstart.contracts.contract import Refusal
from headstart.contracts.diagnosis import Diagnosis
from headstart.contracts.openai_breakpoints import OpenAIBreakpoints
from headstart.contracts.prompt import Prompt
from headstart.contracts.registry import build
from headstart.insight.rehearsal import Rehearsed


@dataclass(frozen=True, slots=True)
class Diagnosed:
    """In the vendor's words."""

    field: str
    """Where its answer has it."""
    found: Diagnosis | None
    """None where it answers null: the prompt goes on from the earlier one."""


def diagnosed(before: Prompt, now: Rehearsed) -> Diagnosed | None:
    """None where the vendor has no diagnostics, or refuses the request."""
    contract = build(now.profile.contract, **now.profile.numbers)
    try:
        match contract:
            case Anthropic():
                return Diagnosed("cache_miss_reason", contract.diagnose(before, now.prompt))
            case OpenAIBreakpoints():
                told = contract.diagnose(before, now.prompt, now.account.read)
                return Diagnosed("prompt_cache_diagnostics", told)
            case _:
                return None
    except Refusal:
        return None
