"""What a vendor would read, write and bill if these requests came in this order.

Its contract decides, as on the server, and of what it would read only what a cache of unlimited
memory has: read = min(contract, engine). Without a clock requests come a second apart.
"""

from collections.abc import Callable
from dataclasses import dataclass

from headstart.contracts.anthropic import Anthropic
from headstart.contracts.contract import Contract, Refusal
from headstart.contracts.entries import Entries
from headstart.contracts.openai_breakpoints import OpenAIBreakpoints
from headstart.contracts.plan import Decision, Plan
from headstart.contracts.prompt import Prompt
from headstart.contracts.registry import build
from headstart.insight.asked.asked import Asked
from headstart.insight.seen import Seen
from headstart.ledger import Account, Profile, Rules

SECONDS_APART = 1.0
BLOCK_TOKENS = 16
"""Of the cache that prompts are looked up in by token; hits are exact to the token all the same."""


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """One request's account, and how it came about."""

    prompt: Prompt
    profile: Profile
    reused: int
    """Prompt tokens that some earlier request of the tenant began with too."""
    account: Account
    plan: Plan | None
    """None where the vendor refuses."""
    refusal: Refusal | None = None


class Rehearsal:
    """Hears requests one after the other."""

    def __init__(
        self,
        prompt_of: Callable[[Asked], Prompt],
        rules: Rules | None = None,
        contract: str | None = None,
    ) -> None:
        """`contract`: the vendor whose rules apply to all, whoever they were sent to."""
        self._prompt_of = prompt_of
        self._rules = rules or Rules.packaged()
        self._contract = contract
        self._terms: dict[tuple[str, str], tuple[Profile, Contract, Entries]] = {}
        self._blocks, self._tokens = Seen(), Seen(BLOCK_TOKENS)
        self._numbers: dict[bytes, int] = {}
        self._now = 0.0

    def ask(self, asked: Asked) -> Rehearsed:
        """The next request."""
        return self.play(asked, self._prompt_of(asked))

    def play(self, asked: Asked, prompt: Prompt, reused: int | None = None) -> Rehearsed:
        """The next request, whose prompt is known, and maybe what an earlier one began with too:
        that is the same whatever is marked."""
        self._now = self._now + SECONDS_APART if asked.time is None else asked.time
        profile, contract, entries = self._of(asked)
        try:
            plan = contract.plan(prompt, entries, self._now)
        except Refusal as refusal:  # Nothing is computed, so nothing of it is there later.
            return Rehearsed(prompt, profile, 0, Account(prompt.tokens, 0), None, refusal)
        if reused is None:
            reused = self._reused(contract, prompt)
        decision = plan.settle(reused)
        plan.commit(entries, self._now)
        return Rehearsed(prompt, profile, reused, _account(decision), plan)

    def _reused(self, contract: Contract, prompt: Prompt) -> int:
        """To the end of a block where the contract reads to no other place: it costs far less."""
        tenant, model = prompt.tenant, prompt.model
        if not isinstance(contract, Anthropic | OpenAIBreakpoints):
            return self._tokens.ask(prompt.ids, tenant=tenant, model=model)
        numbers = self._numbers
        ids = [numbers.setdefault(block.digest, len(numbers) + 1) for block in prompt.blocks]
        # Behind the last block comes what opens the answer, so all blocks can be read.
        same = self._blocks.ask([*ids, 0], tenant=tenant, model=model)
        return min(prompt.ends[same - 1], prompt.tokens - 1) if same else 0

    def _of(self, asked: Asked) -> tuple[Profile, Contract, Entries]:
        key = self._contract or asked.vendor, asked.model
        terms = self._terms.get(key)
        if terms is None:
            profile = self._rules.profile(*key)
            contract = build(profile.contract, **profile.numbers)
            terms = self._terms[key] = profile, contract, Entries()
        return terms


def _account(decision: Decision) -> Account:
    return Account(decision.prompt, decision.read, 0, decision.written)
