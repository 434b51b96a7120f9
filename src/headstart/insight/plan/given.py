"""From what was typed to what a plan is made from."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

from headstart.cache.policies import POLICIES
from headstart.insight.plan import catalogue
from headstart.insight.plan.ask import Ask, Session
from headstart.insight.plan.config import read_config
from headstart.insight.plan.errors import PlanError
from headstart.insight.plan.figure import Assumption
from headstart.insight.plan.kv_types import KV_TYPES, KvType, kv_type
from headstart.insight.plan.machine import Machine
from headstart.insight.plan.memory import pool_tokens
from headstart.insight.plan.money import USES, NoPrice, Offer, named_offer, plain_offer
from headstart.insight.plan.prefill import Model
from headstart.insight.plan.reuse import Prompt
from headstart.insight.plan.served import Served, ask
from headstart.insight.plan.shape import Shape
from headstart.insight.plan.trace import curve, read_trace
from headstart.ledger import PriceBook, PriceError, Rules
from headstart.quantities import parse_bytes, parse_rate, parse_seconds, parse_share_or_bytes
from headstart.settings import Settings

MEMORY, FLOPS, BANDWIDTH, OVERHEAD_MS = "80GB", "400e12", "3.35TB/s", 30.0
"""One H100 SXM: its memory and bandwidth, and 40 % of its 989e12 dense bf16 operations a second."""
RESERVE = "10%"
"""What vLLM leaves free unless told otherwise (gpu_memory_utilization 0.9)."""
PREFIX, QUESTION, BLOCK = 4000, 200, 16
SERVED_TYPES = ("bf16", "fp32")
"""As which a server of ours can keep KV."""
DEFAULT_POLICIES = ("lru", Settings().eviction_policy)
"""What others have, and ours."""
WRITE, READ, TTL = 1.25, 0.1, "5m"

Progress = Callable[[Iterable[int]], Iterable[int]]


@dataclass(frozen=True, slots=True)
class Given:
    """The command's options; None is not given."""

    model: str | None = None
    prefix: int | None = None
    question: int | None = None
    gpu_memory: str | None = None
    flops: str | None = None
    bandwidth: str | None = None
    overhead_ms: float | None = None
    tensor_parallel: int = 1
    weights: str | None = None
    reserve: str | None = None
    kv_dtype: str | None = None
    block_size: int | None = None
    hit_rate: float | None = None
    turns: int | None = None
    turn_tokens: int | None = None
    price: str | None = None
    prices: Path | None = None
    write: float | None = None
    read: float | None = None
    input_price: float | None = None
    rent: float = 0.0
    ttl: str | None = None
    gap: str | None = None
    uses: int | None = None
    as_of: str | None = None
    url: str | None = None
    api_key: str | None = None
    key_typed: bool = False
    """Not from the environment, where it may stand for other commands."""
    trace: Path | None = None
    policies: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class _Source:
    shape: Shape
    told: str
    nominal: float | None
    note: str | None


def understand(given: Given, *, now: datetime, progress: Progress = iter) -> tuple[Ask, str | None]:
    """What is asked, and why money is unknown if it is.

    Reads files, and asks `--url` if there is one; nothing else leaves the machine. Raises
    PlanError, EndpointError.
    """
    _check(given)
    served = None if given.url is None else ask(given.url, given.api_key)
    source = _source(given, served)
    machine = _machine(given)
    prompt = Prompt(
        PREFIX if given.prefix is None else given.prefix,
        QUESTION if given.question is None else given.question,
        _block(given, served),
    )
    weights = source.shape.weight_bytes
    if given.weights is not None:
        weights = parse_bytes(given.weights, "--weights", PlanError)
    model = Model(source.shape, weights, _kv_type(given, source.shape, served))
    gap = None if given.gap is None else parse_seconds(given.gap, "--gap", PlanError)
    offer, unknown = _offer(given, now, prompt.tokens)
    asked = Ask(
        model=model,
        source=source.told,
        nominal=source.nominal or float(source.shape.active),
        nominal_weights=source.nominal or float(source.shape.parameters),
        weights_given=given.weights is not None,
        machine=machine,
        prompt=prompt,
        hit_rate=given.hit_rate,
        session=None
        if given.turns is None
        else Session(given.turns, given.turn_tokens or max(1, prompt.question)),
        offer=offer,
        uses=sorted({*USES, *(() if given.uses is None else (given.uses,))}),
        gap=gap,
        served=served,
        curve=None,
        assumptions=_assumptions(given, source, model, machine, prompt, offer, served),
    )
    if given.trace is None:
        return asked, unknown
    policies = list(dict.fromkeys(given.policies or DEFAULT_POLICIES))
    for policy in policies:
        if policy not in POLICIES:
            raise PlanError(f"'{policy}' is no policy: choose one of {', '.join(POLICIES)}.")
    drawn = curve(
        read_trace(given.trace),
        policies=policies,
        pool_tokens=pool_tokens(asked),
        progress=progress,
    )
    return replace(asked, curve=drawn), unknown


def _check(given: Given) -> None:
    """Raises PlanError for what would otherwise be left out without a word."""
    own = {
        "--write": given.write,
        "--read": given.read,
        "--input-price": given.input_price,
        "--rent": given.rent or None,
    }
    stated = [option for option, value in own.items() if value is not None]
    if given.price is not None and stated:
        raise PlanError(f"{stated[0]} and --price contradict each other: --prices has your own.")
    needs = (
        ("--prices", given.prices, "--price", given.price),
        ("--policy", given.policies, "--trace", given.trace),
        ("--turn-tokens", given.turn_tokens, "--turns", given.turns),
        ("--api-key", given.key_typed, "--url", given.url),
    )
    for option, value, other, there in needs:
        if value and there is None:
            raise PlanError(f"{option} says nothing without {other}.")
    for option, text in (("--gpu-memory", given.gpu_memory), ("--reserve", given.reserve)):
        if given.url is not None and text is not None:
            raise PlanError(f"{option} says nothing with --url, which tells the KV memory.")


def _source(given: Given, served: Served | None) -> _Source:
    name = given.model or (None if served is None else served.model)
    if name is None:
        raise PlanError("Name a --model, or a running server with --url.")
    path = Path(name)
    if path.suffix == ".json" or path.is_dir():
        shape = read_config(path)
        how = "" if shape.exact else ", of an unknown architecture, read as a Llama-like one"
        return _Source(shape, f"{path}{how}", None, None)
    row = catalogue.find(name)
    return _Source(row.shape, f"{row.source} ({row.date})", row.nominal, row.note)


def _machine(given: Given) -> Machine:
    memory = parse_bytes(given.gpu_memory or MEMORY, "--gpu-memory", PlanError)
    return Machine(
        memory=memory,
        flops=parse_rate(given.flops or FLOPS, "--flops", PlanError),
        bandwidth=float(parse_bytes(given.bandwidth or BANDWIDTH, "--bandwidth", PlanError)),
        overhead=(OVERHEAD_MS if given.overhead_ms is None else given.overhead_ms) / 1000,
        reserve=parse_share_or_bytes(given.reserve or RESERVE, memory, "--reserve", PlanError),
        ranks=given.tensor_parallel,
    )


def _block(given: Given, served: Served | None) -> int:
    if given.block_size is not None:
        return given.block_size
    return BLOCK if served is None else served.block_size


def _kv_type(given: Given, shape: Shape, served: Served | None) -> KvType:
    """The given one, the one that explains the server's memory, or bf16."""
    if served is None or given.kv_dtype is not None:
        kind = kv_type(given.kv_dtype or "bf16")
        shape.kv_bytes(kind)  # Raises where the model can't have it.
        return kind
    for name in SERVED_TYPES:
        kind = KV_TYPES[name]
        if shape.kv_bytes(kind) * served.capacity_tokens == served.kv_bytes:
            return kind
    held = served.kv_bytes / served.capacity_tokens
    raise PlanError(
        f"{served.url} keeps {held:,.0f} bytes of KV per token, {shape.name} "
        f"{shape.kv_bytes(KV_TYPES['bf16']):,} in bf16: name its --model or --kv-dtype."
    )


def _offer(given: Given, now: datetime, tokens: int) -> tuple[Offer | None, str | None]:
    try:
        day = now.date() if given.as_of is None else date.fromisoformat(given.as_of)
    except ValueError:
        raise PlanError(f"--as-of '{given.as_of}' is no day: write 2026-11-30.") from None
    moment = now if given.as_of is None else datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
    if given.price is None:
        return _plain(given, day), None
    try:
        book, rules = PriceBook.standard(given.prices), Rules.packaged()
        return named_offer(given.price, book, rules, moment, given.ttl, tokens), None
    except PriceError as error:
        raise PlanError(str(error)) from None
    except NoPrice as unknown:
        return None, str(unknown)


def _plain(given: Given, day: date) -> Offer:
    stated = (given.write, given.read, given.input_price, given.ttl)
    if given.rent and given.input_price is None:
        raise PlanError("--rent is in dollars: say --input-price too.")
    return plain_offer(
        write=Decimal(str(WRITE if given.write is None else given.write)),
        read=Decimal(str(READ if given.read is None else given.read)),
        rent=Decimal(str(given.rent)),
        seconds=parse_seconds(given.ttl or TTL, "--ttl", PlanError),
        input_price=None if given.input_price is None else Decimal(str(given.input_price)),
        day=day,
        given=any(each is not None for each in stated),
    )


def _assumptions(
    given: Given,
    source: _Source,
    model: Model,
    machine: Machine,
    prompt: Prompt,
    offer: Offer | None,
    served: Served | None,
) -> Sequence[Assumption]:
    gpus = f"{given.tensor_parallel} GPU{'s' if given.tensor_parallel > 1 else ''} of "
    listed = [
        ("prefix", f"{prompt.prefix:,} tokens", given.prefix is not None),
        ("question", f"{prompt.question:,} tokens", given.question is not None),
        ("flops", f"{machine.flops:.3g} a second each", given.flops is not None),
        ("bandwidth", f"{machine.bandwidth:.3g} B/s each", given.bandwidth is not None),
        ("overhead", f"{machine.overhead * 1000:g} ms a request", given.overhead_ms is not None),
        ("kv_type", model.kv.name, given.kv_dtype is not None or served is not None),
        (
            "block_size",
            f"{prompt.block} tokens",
            given.block_size is not None or served is not None,
        ),
    ]
    if served is None:
        memory = gpus + (given.gpu_memory or MEMORY)
        listed[2:2] = [
            ("memory", memory, given.gpu_memory is not None),
            ("reserve", f"{machine.reserve / 1e9:.4g} GB of each", given.reserve is not None),
        ]
    if source.note is not None:
        listed.append(("dimensions", source.note, False))
    if offer is not None:
        told = f"{offer.name} on {offer.day}: {offer.source}"
        listed.append(("prices", told, given.price is not None or offer.source == "given"))
    return [Assumption(*each) for each in listed]
