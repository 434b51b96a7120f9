"""Python's names that differ from run to run, and those that mend it."""

from headstart.insight.findings.finding import Evidence
from headstart.insight.lint_code.language import (
    CHANCE,
    CLOCK,
    COUNTER,
    DAY,
    DRAWN,
    FINISHED,
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


def _all(module: str, names: str, cause: Cause) -> dict[str, Cause]:
    return {f"{module}.{name}": cause for name in names.split()}


PYTHON = Language(
    calls={
        **_all("datetime.datetime", "now utcnow", CLOCK),
        **_all("datetime", "datetime.today", CLOCK),
        "datetime.date.today": DAY,
        **_all("time", "time time_ns monotonic monotonic_ns perf_counter perf_counter_ns", CLOCK),
        **_all("time", "process_time ctime asctime localtime gmtime strftime", CLOCK),
        **_all("django.utils.timezone", "now localtime localdate", CLOCK),
        **_all("pandas.Timestamp", "now today utcnow", CLOCK),
        **_all("pendulum", "now today", CLOCK),
        **_all("arrow", "now utcnow", CLOCK),
        **_all("uuid", "uuid1 uuid4 uuid6 uuid7", ID),
        **_all("secrets", "token_hex token_urlsafe token_bytes randbelow randbits choice", ID),
        **_all("os", "urandom", ID),
        **_all("ulid", "ULID new", ID),
        **_all("shortuuid", "uuid random", ID),
        **_all("nanoid", "generate", ID),
        **_all("bson", "ObjectId", ID),
        **_all("bson.objectid", "ObjectId", ID),
        **_all("random", "random randint randrange uniform choice gauss", CHANCE),
        **_all("random", "sample choices", DRAWN),
        **_all("random", "getrandbits randbytes triangular betavariate normalvariate", CHANCE),
        **_all("random.Random()", "random randint randrange uniform choice gauss", CHANCE),
        **_all("random.Random()", "sample choices", DRAWN),
        **_all("random.SystemRandom()", "random randint choice", CHANCE),
        **_all("random.SystemRandom()", "choices sample", DRAWN),
        **_all("numpy.random", "rand randn randint random choice permutation normal", CHANCE),
        **_all("numpy.random.default_rng()", "random integers choice permutation", CHANCE),
        **_all("faker.Faker()", "name sentence paragraph word text city company", CHANCE),
        **_all("os", "getpid getppid times getloadavg", MACHINE),
        **_all("os", "uname", MACHINE),
        **_all("socket", "gethostname getfqdn", MACHINE),
        **_all("platform", "node uname", MACHINE),
        **_all("threading", "get_ident get_native_id", MACHINE),
        **_all("uuid", "getnode", MACHINE),
        **_all("psutil", "cpu_percent virtual_memory", MACHINE),
        "id": MACHINE._replace(what="An object's address"),
        "hash": MACHINE._replace(what="A hash that each process salts anew"),
        "itertools.count().__next__": COUNTER,
        **_all("os", "listdir scandir walk fwalk", LISTING),
        **_all("glob", "glob iglob", LISTING),
        **_all("asyncio", "as_completed", FINISHED),
        **_all("concurrent.futures", "as_completed", FINISHED),
        **_all("anyio.to_thread", "as_completed", FINISHED),
    },
    bare={},
    methods={
        **dict.fromkeys(("iterdir", "rglob", "glob"), LISTING),
        **dict.fromkeys(("imap_unordered",), FINISHED),
    },
    attributes={},
    keeps=words(
        """str repr ascii int float round list tuple dict reversed enumerate zip map filter iter
        next bytes OrderedDict deque islice chain starmap defaultdict print pformat timedelta
        strftime strptime replace astimezone date timestamp gather copy deepcopy fromisoformat
        fromtimestamp escape quote b64encode hexdigest sha256 md5 sha1 blake2b UUID read read_text
        loads load fromkeys asdict model_dump open abs divmod"""
    ),
    sorts=words("sorted natsorted"),
    counts=words("""len bool isinstance issubclass callable type hasattr any all print setattr
        range super"""),
    shuffles={"random.shuffle": SHUFFLED, "numpy.random.shuffle": SHUFFLED},
    seeded=words("random.Random numpy.random.default_rng numpy.random.RandomState"),
    seeders=words("random.seed numpy.random.seed"),
    sets=words("set frozenset"),
    prints_addresses=True,
    explicit_self=True,
    parameters={
        **dict.fromkeys(
            words("""now current_time current_date current_datetime current_timestamp utcnow utc_now
            today"""),
            _HINTED_CLOCK,
        ),
        **dict.fromkeys(("nonce", "cache_buster"), _HINTED_ID),
        **dict.fromkeys(("request_id", "trace_id", "correlation_id", "span_id"), REQUEST),
    },
)
