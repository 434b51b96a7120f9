"""A builder of prompts whose parts stand in the order of how long they stay the same."""

from dataclasses import dataclass, replace

from headstart.insight.layout.bodies import anthropic, gemini, openai, responses
from headstart.insight.layout.material import Material, Turn
from headstart.insight.layout.segment import Segment
from headstart.insight.layout.stages import Asked, Body, Daily, OutOfOrder, Role, Session, Turns
from headstart.insight.layout.steady import normal, stays

STEPS = {
    "always": "never changes",
    "daily": "stays for a day or a tenant",
    "session": "stays for a session",
    "turn": "stays for a session and grows with it",
    "now": "is new each time",
}
"""In the order in which they are called."""


@dataclass(frozen=True, slots=True)
class PromptLayout(Material):
    """A prompt so far. Every method returns a new one: keep what many requests share.

        support = PromptLayout(tools=TOOLS).always(RULES)
        today = support.daily(f"Today is {day}.")
        request = today.turn("user", question).now(f"It is {time}.")
        client.messages.create(**request.to_anthropic("claude-opus-5", max_tokens=500))

    What stays longer can't follow what doesn't: a type checker says so, and at run time
    OutOfOrder. Text that shall stay and has a clock, an id or a counter in it is Volatile; with
    `steady=True` it is taken all the same. Texts become NFC with LF, tools are sorted by name and
    their keys too. A tool is `{"name", "description", "parameters"}`, whoever the vendor is.
    """

    def always(self, text: str, *, steady: bool = False) -> "PromptLayout":
        """Roles, rules, formats, examples: the same in every request of every tenant."""
        return self._add(Segment.ALWAYS, text, steady)

    def daily(self, text: str, *, steady: bool = False) -> Daily:
        """What holds for a day, or for a tenant."""
        return self._add(Segment.DAILY, text, steady)

    def session(self, text: str, *, steady: bool = False) -> Session:
        """What holds for one session: who asks, what was chosen."""
        return self._add(Segment.SESSION, text, steady)

    def turn(self, role: Role, text: str) -> Turns:
        """A message that later requests of the session send again, as it is. Only append."""
        self._before("turn")
        return replace(self, turns=(*self.turns, Turn(role, normal(text))))

    def now(self, *texts: str) -> Asked:
        """What this request alone has: a clock, what was retrieved, a question asked once.

        It ends the last message of the user, so it stands behind all that may be read again.
        """
        self._before("now")
        if not texts:
            raise ValueError("now() takes at least one text")
        return replace(self, asked=tuple(map(normal, texts)))

    def to_anthropic(self, model: str, *, max_tokens: int, lifetime: str | None = None) -> Body:
        """A body for Messages, marked at its stable edges; `lifetime` of what never changes or
        stays for a day, else the vendor's default. Raises ValueError where nothing is asked."""
        return anthropic.body(self._whole(), model, max_tokens, lifetime)

    def to_openai(self, model: str, *, lifetime: str | None = None) -> Body:
        """A body for chat completions, of OpenAI or of any server that speaks them."""
        return openai.body(self._whole(), model, lifetime)

    def to_responses(self, model: str, *, lifetime: str | None = None) -> Body:
        """A body for OpenAI's Responses."""
        return responses.body(self._whole(), model, lifetime)

    def to_gemini(self) -> Body:
        """A body for generateContent; the model stands in its URL. Google renders tools behind the
        instructions, so they are read again only where those of the session are the same."""
        return gemini.body(self._whole())

    def _add(self, segment: Segment, text: str, steady: bool) -> "PromptLayout":
        self._before(list(STEPS)[segment])
        text = stays(text, segment, steady=steady)
        return replace(self, stable=(*self.stable, (segment, text)))

    def _before(self, step: str) -> None:
        """Raises OutOfOrder if what stays no longer than this step's text is there already."""
        steps = list(STEPS)
        last = steps[self.stable[-1][0]] if self.stable else "always"
        last = "now" if self.asked else "turn" if self.turns else last
        if steps.index(last) > steps.index(step) or step == last == "now":
            raise OutOfOrder(
                f"{step}() after {last}(): its text would stand behind one that {STEPS[last]}, and "
                "is read again only where that one is the same. Add it before."
            )

    def _whole(self) -> Material:
        if not self.turns and not self.asked:
            raise ValueError("nothing is asked: end the layout with turn() or now()")
        return self
