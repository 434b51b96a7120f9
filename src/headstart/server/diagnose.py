"""How a prompt differs from an earlier one that it is compared with."""

from headstart.contracts.contract import Contract
from headstart.contracts.diagnosis import Diagnosis
from headstart.contracts.openai_breakpoints import OpenAIBreakpoints
from headstart.contracts.prompt import Prompt


def diagnose(contract: Contract, earlier: Prompt | None, prompt: Prompt, read: int) -> Diagnosis:
    """In OpenAI's words. `read`: the tokens of `prompt` that were read.

    Only one of the contracts knows why a prefix isn't read.
    """
    if isinstance(contract, OpenAIBreakpoints):
        return contract.diagnose(earlier, prompt, read)
    return Diagnosis("comparison_response_not_found" if earlier is None else "unavailable")
