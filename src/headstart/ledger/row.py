"""One request, as the ledger keeps it."""

from dataclasses import dataclass

from headstart.ledger.account import Account


@dataclass(frozen=True, slots=True)
class Row:
    """Whose request it was, what it asked for, what it took and how long until the first token."""

    time: float
    """When it was admitted, in Unix seconds."""
    request: str
    """Its id, as the client was told."""
    tenant: str
    key: str
    """A label of the credential, never the credential."""
    model: str
    """As the client named it."""
    contract: str
    dialect: str
    account: Account
    reused: int
    """Prompt tokens whose prefill the engine skipped; `account.read` is never more."""
    ttft: float | None = None
    """Seconds from admission to the first token; None if there was none."""
    reason: str = ""
    """Why not more was reused; empty if nothing was missed."""
    reusable_ever: int | None = None
    """Prompt tokens that an infinite cache would have read: the longest prefix that any earlier
    request of the same tenant and model had too. None if nobody knows."""
