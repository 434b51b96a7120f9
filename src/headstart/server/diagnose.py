"""How a prompt differs from an earlier one that it is compared with.

Only the contract whose words they are knows them: under any other nothing can be said.
"""

from headstart.contracts.anthropic import Anthropic
from headstart.contracts.contract import Contract
from headstart.contracts.diagnosis import Diagnosis
from headstart.contracts.openai_breakpoints import OpenAIBreakpoints
from headstart.contracts.prompt import Prompt


def in_anthropics_words(
    contract: Contract, earlier: Prompt | None, prompt: Prompt
) -> Diagnosis | None:
    """None if the prompt goes on from the earlier one."""
    if isinstance(contract, Anthropic):
        return contract.diagnose(earlier, prompt)
    return Diagnosis("unavailable")


def in_openais_words(
    contract: Contract, earlier: Prompt | None, prompt: Prompt, read: int
) -> Diagnosis:
    """`read`: the tokens of `prompt` that were read."""
    if isinstance(contract, OpenAIBreakpoints):
        return contract.diagnose(earlier, prompt, read)
    return Diagnosis("comparison_response_not_found" if earlier is None else "unavailable")
