"""What `headstart lint-code` looks for. A code keeps its meaning for ever."""

from collections.abc import Mapping
from dataclasses import dataclass

from headstart.insight.findings.finding import Severity
from headstart.insight.findings.rule import Rule


@dataclass(frozen=True, slots=True)
class Told:
    """A rule, and what its findings say."""

    rule: Rule
    why: str
    fix: str


CLOCK = Told(
    Rule(
        "HSC101",
        "clock-in-prefix",
        Severity.ERROR,
        "The time or the date stands before what stays.",
        """
        A prefix cache reads from the first token on and stops at the first one that differs. A
        time of day differs in every request; a date differs once a day, which is a warning.

        ```python
        system = f"The time is {datetime.now()}.\\n{RULES}"  # HSC101
        messages = [
            {"role": "system", "content": RULES},
            *history,
            {"role": "user", "content": f"(It is {datetime.now()}.) {question}"},
        ]  # fine
        ```

        Tell the time in the last user message, or give the model a tool that tells it. If only the
        date matters, a date in the last block of the system prompt, behind the block with
        `cache_control`, is fine as well.
        """,
    ),
    why="Every request has another prefix from here on: nothing behind it is read from the cache.",
    fix="Say it in the last user message, or behind the last block with cache_control.",
)
ID = Told(
    Rule(
        "HSC102",
        "id-in-prefix",
        Severity.ERROR,
        "A new id, a token or a nonce stands before what stays.",
        """
        `uuid4()`, `token_hex()`, `crypto.randomUUID()` and `nanoid()` are new each time, so no two
        requests share a token behind them. An id made of the content (`uuid5`, a digest) is the
        same for the same content, and is fine.

        ```typescript
        system: `conversation ${randomUUID()}\\n${RULES}`       // HSC102
        metadata: { conversation: randomUUID() }, system: RULES  // fine
        ```

        Ids for logs and traces belong in headers or in the API's `metadata`.
        """,
    ),
    why="No two requests share a token behind it.",
    fix="Put it in a header or in the API's metadata; the model rarely needs it.",
)
CHANCE = Told(
    Rule(
        "HSC103",
        "random-in-prefix",
        Severity.ERROR,
        "Something random stands before what stays.",
        """
        Few-shot examples that are drawn or shuffled for each request, a persona by chance, an A/B
        test that is thrown anew: each variant has a prefix of its own.

        ```python
        shots = random.sample(EXAMPLES, 2)  # HSC103
        shots = random.Random(7).sample(EXAMPLES, 2)  # fine: the same two each time
        ```

        Draw with a fixed seed, or by a digest of the user's id so that one user keeps one variant,
        or put the examples behind everything that stays.
        """,
    ),
    why="Each draw has a prefix of its own.",
    fix="Draw with a fixed seed, or by a digest of something that stays, such as the user.",
)
MACHINE = Told(
    Rule(
        "HSC104",
        "machine-in-prefix",
        Severity.WARNING,
        "The machine, the process or an address stands before what stays.",
        """
        Host names, process ids, `id()`, `hash()` of text (salted in each process), and objects
        that print as `<Tool object at 0x7f...>` are the same in one process only. Replicas share no
        prefix, and each restart begins cold.

        ```python
        system = f"Tools: {self.registry}"  # HSC104: no __str__, prints its address
        system = "Tools: " + ", ".join(self.registry.names)  # fine
        ```
        """,
    ),
    why="Each process has a prefix of its own: replicas share nothing, a restart begins cold.",
    fix="Leave it out, or print a name that all replicas share.",
)
COUNTER = Told(
    Rule(
        "HSC105",
        "counter-in-prefix",
        Severity.ERROR,
        "A counter that goes on between calls stands before what stays.",
        """
        A module's or an object's counter that a function increases is another number in each
        request. Counting within one prompt (`enumerate`) is the same each time, and is fine.

        ```python
        self.calls += 1
        system = f"Call {self.calls}. {RULES}"  # HSC105
        ```
        """,
    ),
    why="It is another number in each request, and so another prefix.",
    fix="Say it in the last user message, or in the API's metadata.",
)
REQUEST = Told(
    Rule(
        "HSC106",
        "request-id-in-prefix",
        Severity.ERROR,
        "A request's or a trace's id stands before what stays.",
        """
        Ids that a framework or a tracer gives to one request: `x-request-id`, `traceparent`,
        `request.state.request_id`, `context.aws_request_id`. They are known by their names, so the
        evidence is `suspected`.

        Send them in a header or in the API's `metadata`.
        """,
    ),
    why="No two requests share a token behind it.",
    fix="Send it in a header or in the API's metadata.",
)
LISTING = Told(
    Rule(
        "HSC111",
        "unsorted-listing",
        Severity.WARNING,
        "A directory's files come in whatever order the file system has.",
        """
        `os.listdir`, `glob`, `Path.iterdir` and `os.scandir` give names in no order: it differs
        between machines, images and after a write. Node's `readdir` promises none either; on Unix
        it happens to sort, other runtimes don't, so there the evidence is `suspected`.

        ```python
        tools = [load(name) for name in os.listdir("tools")]  # HSC111
        tools = [load(name) for name in sorted(os.listdir("tools"))]  # fine
        ```
        """,
    ),
    why="The same files in another order are another prefix, on each machine or after each write.",
    fix="Sort the listing: sorted(...) in Python, .sort() in JavaScript.",
)
BAG = Told(
    Rule(
        "HSC112",
        "unordered-set",
        Severity.WARNING,
        "A set is written out in whatever order it has.",
        """
        Python salts the hashes of text in each process, so a set of words has another order after
        each start. Its size, membership in it and `sorted()` of it are the same each time.
        JavaScript's `Set` keeps the order of insertion and is no finding.

        ```python
        system = "Skills: " + ", ".join(skills)  # HSC112, where skills is a set
        system = "Skills: " + ", ".join(sorted(skills))  # fine
        ```
        """,
    ),
    why="Each process writes it in another order, and so has another prefix.",
    fix="Sort it where it is written out, or keep a list.",
)
KEYS = Told(
    Rule(
        "HSC113",
        "unstable-keys",
        Severity.WARNING,
        "A dict is written out whose keys are in no certain order.",
        """
        A dict keeps the order in which its keys came. Where they came from a listing, from a set
        or from outside (`profile.items()` in a template), the same facts are another text.

        ```python
        json.dumps({name: size(name) for name in os.listdir("docs")})  # HSC113
        json.dumps({name: size(name) for name in os.listdir("docs")}, sort_keys=True)  # fine
        ```

        In Jinja: `{% for key, value in profile | dictsort %}`. Jinja's own `tojson` sorts keys.
        """,
    ),
    why="The same facts in another order are another prefix.",
    fix="Sort the keys: json.dumps(..., sort_keys=True), or | dictsort in Jinja.",
)
ROWS = Told(
    Rule(
        "HSC114",
        "rows-without-order",
        Severity.NOTE,
        "Rows of a database are written out without an order.",
        """
        Without `ORDER BY` a database gives rows in the order that suits it: another one after an
        update, a vacuum or on a replica. Known by its looks (`Model.objects`, `select(...)`,
        `SELECT` without `ORDER BY`, `findMany` without `orderBy`), so the evidence is `suspected`.
        """,
    ),
    why="The database may give the same rows in another order, which is another prefix.",
    fix="Order by a key that stays, such as the id or the name.",
)
FINISHED = Told(
    Rule(
        "HSC115",
        "order-of-completion",
        Severity.WARNING,
        "Results are written out in the order in which they were ready.",
        """
        `asyncio.as_completed`, `concurrent.futures.as_completed` and `imap_unordered` give results
        in another order each time. `asyncio.gather` and `Executor.map` keep the order asked for.
        """,
    ),
    why="Each run has another order, and so another prefix.",
    fix="Gather them in the order asked for: asyncio.gather, Executor.map.",
)

TOLD: Mapping[str, Told] = {
    each.rule.code: each
    for each in (CLOCK, ID, CHANCE, MACHINE, COUNTER, REQUEST, LISTING, BAG, KEYS, ROWS, FINISHED)
}
RULES: tuple[Rule, ...] = tuple(each.rule for each in TOLD.values())
