"""Dialects that touch a prefix by asking for an answer, as short a one as the API allows."""

from collections.abc import Collection, Mapping
from typing import Any

from headstart.insight.warm.dialects.dialect import Target
from headstart.ledger import Account, Profile

STREAMING = ("stream", "stream_options")
"""What would only make an answer longer to read."""


class Generating:
    """What they have in common."""

    def headers(self, key: str | None) -> Mapping[str, str]:
        """A bearer's."""
        return {"Authorization": f"Bearer {key}"} if key else {}

    def problem(self, body: Mapping[str, Any], _resource: str | None) -> str | None:
        """An API that caches by itself takes any prompt."""
        return None if body else "it has no body"

    def offered(self, profile: Profile) -> Collection[str]:
        """All that the vendor has."""
        return tuple(profile.lifetimes)

    def answer_tokens(self, _target: Target) -> int:
        """That the shortest answer has."""
        return 1

    def bills(self, target: Target, prefix: int, rest: int) -> tuple[Account, Account]:
        """One writes the prefix, the others read it."""
        written = {} if target.lifetime is None else {target.lifetime: prefix}
        output = self.answer_tokens(target)
        prompt = prefix + rest
        return Account(prompt, 0, output, written), Account(prompt, prefix, output)


def unstreamed(body: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """The same request for a whole answer, with `more` in it."""
    return {name: value for name, value in body.items() if name not in STREAMING} | more
