"""JavaScript's names that differ from run to run, and those that mend it."""

from headstart.insight.findings.finding import Evidence
from headstart.insight.lint_code.language import (
    CHANCE,
    CLOCK,
    DRAWN,
    ID,
    LISTING,
    MACHINE,
    REQUEST,
    SHUFFLED,
    Language,
    words,
)
from headstart.insight.lint_code.taint import Cause

_HINTED_CLOCK = CLOCK._replace(what="What is named as a clock", evidence=Evidence.SUSPECTED)
_HINTED_ID = ID._replace(what="What is named as new for each request", evidence=Evidence.SUSPECTED)
_NODES_LISTING = LISTING._replace(evidence=Evidence.SUSPECTED)


def _all(module: str, names: str, cause: Cause) -> dict[str, Cause]:
    return {f"{module}.{name}": cause for name in names.split()}


JAVASCRIPT = Language(
    calls={
        **_all("Date", "now", CLOCK),
        **_all("performance", "now", CLOCK),
        **_all("process", "hrtime hrtime.bigint uptime", CLOCK),
        **_all("os", "uptime", CLOCK),
        **_all("perf_hooks.performance", "now", CLOCK),
        **_all("Temporal.Now", "instant plainDateTimeISO plainDateISO zonedDateTimeISO", CLOCK),
        **_all("luxon.DateTime", "now local utc", CLOCK),
        **_all("crypto", "randomUUID randomBytes getRandomValues randomInt", ID),
        **_all("crypto.webcrypto", "randomUUID getRandomValues", ID),
        **_all("globalThis.crypto", "randomUUID getRandomValues", ID),
        **_all("uuid", "v1 v4 v6 v7", ID),
        **_all("nanoid", "nanoid customAlphabet()", ID),
        **_all("ulid", "ulid", ID),
        **_all("cuid", "cuid", ID),
        **_all("@paralleldrive/cuid2", "createId", ID),
        **_all("lodash", "uniqueId", ID),
        **_all("ai", "generateId", ID),
        **_all("Math", "random", CHANCE),
        **_all("lodash", "sample random", CHANCE),
        **_all("lodash", "sampleSize", DRAWN),
        **_all("lodash", "shuffle", SHUFFLED),
        **_all("os", "hostname loadavg freemem", MACHINE),
        **_all("process", "memoryUsage cpuUsage", MACHINE),
        **_all("fs", "readdirSync readdir opendirSync promises.readdir", _NODES_LISTING),
        **_all("fs/promises", "readdir opendir", _NODES_LISTING),
        **_all("fs-extra", "readdir readdirSync", _NODES_LISTING),
        **_all("glob", "glob globSync sync", LISTING),
        **_all("fast-glob", "sync glob globSync", LISTING),
        **_all("Deno", "readDir readDirSync", LISTING),
        **dict.fromkeys(("glob", "fast-glob", "globby"), LISTING),
    },
    bare={
        **dict.fromkeys(("Date", "dayjs", "moment", "moment.utc", "dayjs.utc"), CLOCK),
    },
    methods={},
    attributes={
        "process.pid": MACHINE,
        "process.ppid": MACHINE,
    },
    keeps=words(
        """String Number Date BigInt parseInt parseFloat Array entries keys values fromEntries
        assign structuredClone floor round ceil trunc abs max min toISOString toLocaleString
        toLocaleDateString toLocaleTimeString toUTCString getTime valueOf slice substring substr
        padStart padEnd split at toFixed toUpperCase toLowerCase all allSettled resolve freeze
        readFileSync readFile"""
    ),
    sorts=words("sort toSorted sortBy orderBy"),
    counts=words("Boolean isArray setTimeout setInterval log error warn debug info"),
    shuffles={},
    seeded=words("seedrandom"),
    seeders=words(""),
    sets=frozenset(),
    ordered_sets=True,
    parameters={
        **dict.fromkeys(
            words("now currentTime currentDate currentDateTime today"),
            _HINTED_CLOCK,
        ),
        **dict.fromkeys(("nonce", "cacheBuster"), _HINTED_ID),
        **dict.fromkeys(("requestId", "traceId", "correlationId", "spanId"), REQUEST),
    },
)
