"""What calls of functions from outside the tree do to taints."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from headstart.insight.lint_code import ir
from headstart.insight.lint_code.language import (
    CLOCK,
    DAY,
    KEYS,
    MACHINE,
    REQUEST,
    REQUEST_HEADERS,
    REQUEST_NAMES,
    ROWS,
    WORDS,
    Language,
)
from headstart.insight.lint_code.methods import Caller, chained, collected, merged, sort
from headstart.insight.lint_code.prompt import Early
from headstart.insight.lint_code.taint import NONE, Cause, Taint, Taints, ordered, unordered
from headstart.insight.lint_code.values import (
    CLEAN,
    Array,
    Foreign,
    Item,
    Record,
    Template,
    Text,
    Value,
    constant,
    elements,
    literal,
    record,
    text,
    union,
)

ADDRESS = MACHINE._replace(what="An object's address")

_ROLES = {
    "SystemMessage": "system",
    "SystemMessagePromptTemplate": "system",
    "HumanMessage": "user",
    "AIMessage": "assistant",
    "ToolMessage": "tool",
}
_PROMPTS = ("ChatPromptTemplate.from_messages", "ChatPromptTemplate.fromMessages")
_FILLS = frozenset(
    [
        "invoke",
        "ainvoke",
        "stream",
        "astream",
        "batch",
        "partial",
        "format",
        "format_messages",
        "formatMessages",
        "format_prompt",
    ]
)
_SLOT = re.compile(r"\{([A-Za-z_]\w*)[^{}]*\}")
_QUERY = re.compile(
    r"\s*select\b(?!.*\border\s+by\b)(?!.*\blimit\s+1\b)(?!\s+count\b)", re.IGNORECASE | re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Made:
    """A call of something foreign."""

    name: str
    callee: Value
    receiver: Value
    args: Sequence[Value]
    named: Mapping[str, Value]
    call: Caller
    new: bool = False
    last: str = field(init=False)
    """The name without its path."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "last", self.name.rsplit(".", 1)[-1].removesuffix("()"))

    @property
    def given(self) -> Value:
        """The taints of all arguments."""
        return union((*self.args, *self.named.values()))

    def arg(self, number: int) -> Value:
        """CLEAN where there is none."""
        return self.args[number] if number < len(self.args) else CLEAN


def nothing(_: Iterable[Taint]) -> Taints:
    """Keeps none."""
    return NONE


def attribute(name: str, language: Language) -> Cause | None:
    """What reading this name gives."""
    last = name.rsplit(".", 1)[-1]
    if name in language.attributes:
        return language.attributes[name]
    if last == "objects":
        return ROWS
    return REQUEST if last.lower() in REQUEST_NAMES else None


_FIELDS = frozenset(["field", "Field", "ib", "attrib", "PrivateAttr"])
"""Of dataclasses, attrs, msgspec and pydantic."""


def factory(name: str, node: ir.Call) -> ir.Expr | None:
    """What a field is made by for each object anew, where the call declares such a field."""
    last = name.rsplit(".", 1)[-1]
    if last == "Factory" and name.startswith(("attr.", "attrs.")):
        return node.args[0] if node.args else None
    if last not in _FIELDS:
        return None
    return next((by for named, by in node.named if named in {"default_factory", "factory"}), None)


def header(name: str) -> Cause | None:
    """What a subscript or a `get` with this key gives."""
    return REQUEST if REQUEST_HEADERS.fullmatch(name) or name.lower() in REQUEST_NAMES else None


def cause(made: Made, language: Language) -> Cause | None:
    """What the call itself brings in."""
    name = made.name
    if name in language.calls:
        return language.calls[name]
    if name in language.bare and not made.args:
        return language.bare[name]
    if made.last in language.methods and not name.startswith(("re.", "self.")):
        return language.methods[made.last]
    if made.last in {"get", "header", "getHeader"} and (key := constant(made.arg(0))):
        return header(key) if REQUEST_HEADERS.fullmatch(key) else None
    if made.last in {"select", "query", "findMany"} and not made.receiver.taints:
        return _rows(made)
    if made.last == "execute" and _QUERY.match(constant(made.arg(0)) or ""):
        return ROWS
    return None


def _rows(made: Made) -> Cause | None:
    if made.last == "findMany":
        asked = made.arg(0).shape
        return None if isinstance(asked, Record) and asked.get("orderBy") else ROWS
    return ROWS if made.name.startswith("sqlalchemy.") or made.last == "query" else None


def makes_a_set(made: Made, language: Language) -> bool:
    """Whether it is a set of something."""
    return made.name in language.sets and bool(made.args)


def shuffled(made: Made, language: Language) -> Cause | None:
    """What it does to the order of its first argument."""
    return language.shuffles.get(made.name)


def piped(left: Value, right: Value) -> Value | None:
    """LangChain's `template | model`."""
    for each in (left, right):
        if isinstance(each.shape, Template):
            return Value(each.taints, each.shape)
    return None


def filled(made: Made) -> Iterator[Early]:
    """A template that gets volatile values for what stands early in it."""
    template = made.receiver.shape
    if not isinstance(template, Template) or made.last not in _FILLS:
        return
    values = dict(made.named)
    for arg in made.args:
        if isinstance(arg.shape, Record):
            values.update(arg.shape.fields)
    for name in template.early:
        if name in values:
            value = values[name]
            yield Early(f"`{{{name}}}` of the template", made.call(value, ()).taints | value.taints)


def result(made: Made, language: Language) -> Value:
    """What comes of it, but for `cause`."""
    last, name = made.last, made.name
    if isinstance(made.receiver.shape, Template) and last in {*_FILLS, "pipe"}:
        return Value(shape=made.receiver.shape)
    if name.endswith(_PROMPTS):
        return _template(made.arg(0))
    if last in language.counts:
        return CLEAN
    if name in language.seeded and made.args and not made.given.taints:
        return Value(shape=Foreign(f"{name}(seed)"))
    if last in language.sorts:
        return sort(made.arg(0)) if made.args else sort(made.receiver)
    if last in {"order_by", "orderBy"} or (last in _SINGLE and made.receiver.taints):
        kept = made.receiver.only(_without_rows)
        return Value(kept.taints, Foreign(f"{name}()"))
    if last in _DUMPS:
        return _dumped(made)
    if last in _LISTS and made.args:
        return _listed(made.arg(0))
    if last == "dict" and (made.named or isinstance(made.arg(0).shape, Record)):
        return merged([*made.args, record(made.named.items())])
    if last == "map" and len(made.args) == 2:
        return collected(made.arg(1), made.call(made.arg(0), [elements(made.arg(1))]))
    if last == "next" and "itertools.count" in _path(made.arg(0)):
        return made.arg(0).plain
    if last in {"dedent", "str", "String", "cleandoc"} and isinstance(made.arg(0).shape, Text):
        return made.arg(0)
    if made.new or last[:1].isupper() or name.endswith(("from_text", "fromText")):
        return _constructed(made)
    taints = made.receiver.taints | made.callee.taints
    if _is_day(made):
        days = frozenset(
            replace(taint, cause=DAY) if taint.cause is CLOCK else taint for taint in taints
        )
        return Value(days, Foreign(f"{name}()"))
    if last in language.keeps or _makes_text(last):
        taints |= made.given.taints
    return Value(taints, Foreign(f"{name}()"))


_SINGLE = frozenset(
    [
        "get",
        "first",
        "count",
        "exists",
        "aggregate",
        "fetchone",
        "one",
        "scalar",
        "scalar_one",
        "one_or_none",
        "last",
    ]
)
_DUMPS = frozenset(["dumps", "dump", "stringify", "safe_dump"])
_LISTS = frozenset(["list", "tuple", "reversed", "from", "all", "iter", "tqdm"])


_TIMES = re.compile(r"%-?[HIMSfscXpTRrZz+]")


def _is_day(made: Made) -> bool:
    """Whether only the date is left of a clock."""
    if made.last == "strftime" and (form := constant(made.arg(0))) is not None:
        return not _TIMES.search(form)
    return made.last in {"date", "toDateString", "toLocaleDateString"} and not made.args


@lru_cache(4096)
def _makes_text(name: str) -> bool:
    parts = re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+", name)
    return any(part.lower() in WORDS for part in parts)


def _without_rows(taints: Iterable[Taint]) -> Taints:
    return frozenset(taint for taint in taints if taint.cause is not ROWS)


def _path(value: Value) -> str:
    return value.shape.name if isinstance(value.shape, Foreign) else ""


def _dumped(made: Made) -> Value:
    """JSON: the shape stays, as it may be the body of a request."""
    value = made.arg(0)
    if not isinstance(value.shape, Record) or value.shape.rest is None:
        return value
    if "sort_keys" in made.named:
        return value.only(ordered)
    loose = unordered(value.taints)
    keys = frozenset(replace(taint, cause=KEYS) for taint in loose)
    return Value(ordered(value.taints) | keys)


def _listed(value: Value) -> Value:
    return chained((value,)) if isinstance(value.shape, Array) else Value(value.taints, value.shape)


def _constructed(made: Made) -> Value:
    """A message, a part, a configuration: what it is given is what it has."""
    fields = dict(made.named)
    if made.args:
        fields.setdefault("content", made.arg(0))
    if made.last in _ROLES:
        fields.setdefault("role", text([_ROLES[made.last]]))
    if not fields or not (made.given.taints or made.named):
        return Value(made.callee.taints, Foreign(f"{made.name}()"))
    return record(fields.items())


def _template(messages: Value) -> Value:
    """The names in the system part, and in whatever stands before something that stays."""
    if not isinstance(messages.shape, Array):
        return Value(shape=Template(()))
    early: list[str] = []
    items = messages.shape.items
    for number, item in enumerate(items):
        last = number == len(items) - 1
        spoken, content = _said(item)
        if not (last and spoken != "system"):
            early += _SLOT.findall(content)
    return Value(messages.taints, Template(tuple(early)))


def _said(item: Item) -> tuple[str | None, str]:
    match item.value.shape:
        case Array((Item(role), Item(content))):
            return constant(role), literal(content)
        case Record() as fields:
            role_ = fields.get("role")
            content_ = fields.get("content") or fields.get("template")
            return (
                constant(role_) if role_ else None,
                literal(content_) if content_ else "",
            )
        case _:
            return None, ""
