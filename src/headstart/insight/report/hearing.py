"""Hears a recording request by request: what each is to the earlier ones, then into the sums."""

from headstart.insight.asked.asked import Asked
from headstart.insight.asked.count import Counter, Counts
from headstart.insight.asked.prompt import to_prompt
from headstart.insight.compare.broken import Break
from headstart.insight.lint.breaks import Breaks
from headstart.insight.lint.marks import BY_MARKS, Marks
from headstart.insight.rehearsal import Rehearsal
from headstart.insight.report.blame import Known
from headstart.insight.report.ceiling import Ceiling, rehearsed_reuse
from headstart.insight.report.prefixes import UNKNOWN, Families, prefix_of
from headstart.insight.report.pricing import Pricing
from headstart.insight.report.tally import By, Tally
from headstart.insight.shown import Show
from headstart.ledger import Account


class Hearing:
    """One recording. Requests with usage are measured, those with a body alone estimated.

    The two are never added up together. All of them are what later ones could have read from.
    """

    def __init__(self, pricing: Pricing, count: Counter, by: By, show: Show) -> None:
        self._pricing = pricing
        self._counter = count
        self._counts = counts = Counts(count)
        self._families = Families(show)
        self._breaks = Breaks()
        self._ceiling = Ceiling(counts)
        self._marks = Marks()
        self._rehearsal = Rehearsal(lambda asked: to_prompt(asked, counts), pricing.rules)
        self.measured = Tally(pricing, by)
        self.estimated = Tally(pricing, by)
        self.silent = 0
        """Requests with neither a body nor usage."""

    def hear(self, asked: Asked) -> None:
        """The next request."""
        if not asked.has_body:
            if asked.account is None:
                self.silent += 1
            else:
                self._usage(asked, asked.account)
            return
        heard = self._breaks.hear(asked)
        profile = self._pricing.profile(asked)
        by_marks = profile.contract in BY_MARKS
        rehearsed = None
        if asked.account is None or by_marks:
            rehearsed = self._rehearsal.ask(asked)
        if rehearsed is not None and by_marks:
            reusable = rehearsed_reuse(asked, heard.earlier, rehearsed)
        else:
            reusable = self._ceiling.hear(asked, heard.earlier)
        account, tally = asked.account, self.measured
        if account is None:
            assert rehearsed is not None, "it has no usage"
            account, tally = rehearsed.account, self.estimated
        if not account.prompt:
            return
        key, count = prefix_of(asked)
        name = self._families.hear(asked, key, count, heard.earlier, heard.found)
        turn = tally.sessions.hear(asked, heard.earlier, account)
        early = reusable.of(account.prompt, reusable.through(count))
        tally.gaps.prefix(key, name, asked, profile, early)
        tally.gaps.turn(asked, turn.before, profile, turn.before_prompt, account.prompt)
        tally.hear(
            Known(
                asked,
                account,
                profile,
                turn,
                heard.earlier,
                reusable,
                heard.found,
                0 if heard.found is None else self._lost(heard.found),
                () if rehearsed is None else tuple(self._marks.hear(asked, heard, rehearsed)),
            ),
            name,
        )

    def _usage(self, asked: Asked, account: Account) -> None:
        profile = self._pricing.profile(asked)
        turn = self.measured.sessions.hear(asked, None, account)
        self.measured.gaps.turn(asked, turn.before, profile, turn.before_prompt, account.prompt)
        self.measured.hear(Known(asked, account, profile, turn), UNKNOWN)

    def _lost(self, found: Break) -> int:
        tokens = sum(map(self._counts.tokens, found.lost))
        if found.piece is not None and found.lost_within:
            tokens += self._counter.tokens(found.piece.text[-found.lost_within :])
        return tokens
