"""Prompts said in a line, and a server that is nothing but a contract and its entries."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from headstart.contracts.contract import Contract
from headstart.contracts.entries import Entries
from headstart.contracts.plan import Decision, Plan
from headstart.contracts.prompt import Block, Kind, Mark, Prompt, Wishes, digest

SUFFIX = 3
"""Tokens that open the answer: no vendor's block, and never reused."""


@dataclass(frozen=True)
class Part:
    """A block before its place is known."""

    kind: Kind
    tokens: int
    text: str
    mark: Mark | None = None
    message: int | None = None
    markable: bool = True


def part(
    kind: Kind,
    tokens: int = 100,
    text: str = "",
    *,
    mark: str | bool = False,
    message: int | None = None,
    markable: bool = True,
) -> Part:
    """`mark`: True, or the lifetime it names. Same kind and text: the same block."""
    wish = Mark(mark if isinstance(mark, str) else None) if mark else None
    return Part(kind, tokens, text, wish, message, markable)


def user(tokens: int = 100, text: str = "", **more: Any) -> Part:
    return part("user", tokens, text, **more)


def assistant(tokens: int = 100, text: str = "", **more: Any) -> Part:
    return part("assistant", tokens, text, **more)


def system(tokens: int = 100, text: str = "", **more: Any) -> Part:
    return part("system", tokens, text, **more)


def tool(tokens: int = 100, text: str = "", **more: Any) -> Part:
    return part("tool", tokens, text, **more)


def numbered(
    count: int, tokens: int = 100, marks: Sequence[int] = (), first: int = 1
) -> list[Part]:
    """Blocks of user and assistant by turns, told apart by their numbers, which begin at 1."""
    return [
        part("user" if number % 2 else "assistant", tokens, f"block {number}", mark=number in marks)
        for number in range(first, first + count)
    ]


def prompt(*parts: Part, ids: Sequence[int] | None = None, **changes: Any) -> Prompt:
    """One message a block, unless the parts say otherwise."""
    blocks: list[Block] = []
    ends: list[int] = []
    end = 0
    for index, one in enumerate(parts):
        end += one.tokens
        message = index if one.message is None else one.message
        path = {"tool": f"tools.{index}", "system": f"system.{index}"}.get(
            one.kind, f"messages.{message}.content.0"
        )
        said = digest(one.kind.encode(), one.text.encode(), one.tokens.to_bytes(4))
        blocks.append(Block(one.kind, said, message, path, one.mark, one.markable))
        ends.append(end)
    fields: dict[str, Any] = {"tenant": "acme", "model": "model"}
    wishes = {name: changes.pop(name) for name in list(changes) if name in Wishes.__slots__}
    if "automatic" in wishes and not isinstance(wishes["automatic"], Mark):
        ttl = wishes["automatic"]
        wishes["automatic"] = Mark(ttl if isinstance(ttl, str) else None)
    return Prompt(
        **{**fields, **changes},
        blocks=blocks,
        ends=ends,
        ids=[0] * (end + SUFFIX) if ids is None else ids,
        wishes=Wishes(**wishes),
    )


@dataclass
class Server:
    """Answers at once: what a request writes can be read by the next one."""

    contract: Contract
    entries: Entries = field(default_factory=Entries)

    def plan(self, asked: Prompt, now: float = 0.0) -> Plan:
        return self.contract.plan(asked, self.entries, now)

    def ask(self, asked: Prompt, now: float = 0.0, reused: int | None = None) -> Decision:
        """`reused`: by the engine; all but what opens the answer if it isn't said."""
        plan = self.plan(asked, now)
        plan.commit(self.entries, now)
        return plan.settle(asked.tokens - SUFFIX if reused is None else reused)


def account(decision: Decision) -> tuple[int, dict[str, int], int]:
    """Read, what is written of each lifetime, and fresh."""
    written = {lifetime: tokens for lifetime, tokens in decision.written.items() if tokens}
    return decision.read, written, decision.fresh
