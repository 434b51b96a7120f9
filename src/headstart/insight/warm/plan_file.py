"""The file that says what to keep warm: YAML, or JSON. Unknown fields are errors."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

import msgspec
import yaml  # type: ignore[import-untyped]
from msgspec import Meta

from headstart.insight.warm.dialects import DIALECTS
from headstart.insight.warm.errors import WarmError
from headstart.insight.warm.stakes import Expected
from headstart.quantities import parse_seconds, parse_tokens

LOADER = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
BYTES_PER_TOKEN = 4
RESOURCE = re.compile(r"(cachedContents/)?[A-Za-z0-9_-]+")

MOST = 10**12
"""Of uses, tokens and dollars: what is more is a mistake."""
Count = Annotated[int, Meta(ge=1, le=MOST)] | str
"""Also `1e5` or `4k`, which are texts in YAML."""
Worth = Annotated[float, Meta(ge=0, le=MOST)]
Text = Annotated[str, Meta(min_length=1)]
Duration = str | int | float


class _Traffic(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """What may stand beside all prompts, and beside one."""

    lifetime: Duration | None = None
    uses: Count | None = None
    every: Duration | None = None
    gaps: Annotated[list[Duration], Meta(min_length=1)] | None = None
    worth: Worth | None = None


class _Prompt(_Traffic, kw_only=True):
    name: Text | None = None
    body: dict[str, Any] | str | None = None
    resource: str | None = None
    tokens: Count | None = None


class _Plan(_Traffic, kw_only=True):
    endpoint: Text
    dialect: str
    model: Text
    prompts: Annotated[list[_Prompt], Meta(min_length=1)]
    key_env: Text | None = None
    vendor: str | None = None
    headers: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class Prompt:
    """One that shall be kept warm."""

    name: str
    body: Mapping[str, Any]
    resource: str | None
    tokens: int
    tokens_given: bool
    """False: counted as four bytes to a token."""
    lifetime: str | None
    """As the plan has it: a vendor's name of one, or a duration."""
    expected: Expected


@dataclass(frozen=True, slots=True)
class Plan:
    """What to keep warm, and where."""

    endpoint: str
    dialect: str
    model: str
    vendor: str
    key_env: str | None
    prompts: Sequence[Prompt]
    headers: Mapping[str, str] = field(default_factory=dict)


def read_plan(path: Path) -> Plan:
    """Raises WarmError naming the field."""
    try:
        data = path.read_bytes()
        fields = msgspec.yaml.decode(data, type=_Plan)
        twice = next(_twice(yaml.compose(data, LOADER), set()), None)
    except OSError as error:
        raise WarmError(f"{path}: {error.strerror}") from None
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise WarmError(f"{path}: {' '.join(str(error).split())}") from None
    if twice is not None:
        raise WarmError(f"{path}: '{twice}' is given twice")
    dialect = DIALECTS.get(fields.dialect)
    if dialect is None:
        raise WarmError(f"{path}: no dialect '{fields.dialect}': there are {', '.join(DIALECTS)}")
    if not fields.endpoint.startswith(("http://", "https://")):
        raise WarmError(f"{path}: the endpoint is no http or https URL: {fields.endpoint}")
    for name, value in fields.headers.items():
        if not (name.isascii() and value.isascii() and f"{name}{value}".isprintable()):
            raise WarmError(f"{path}: the header {name!r} can't be sent")
    prompts = [
        _prompt(prompt, fields, path.parent, f"{path}: prompts[{at}]", at)
        for at, prompt in enumerate(fields.prompts)
    ]
    names = [prompt.name for prompt in prompts]
    if len(set(names)) != len(names):
        raise WarmError(f"{path}: two prompts have one name")
    return Plan(
        endpoint=fields.endpoint.rstrip("/"),
        dialect=fields.dialect,
        model=fields.model,
        vendor=fields.vendor or dialect.vendor,
        key_env=fields.key_env,
        prompts=prompts,
        headers=fields.headers,
    )


def _prompt(fields: _Prompt, plan: _Plan, folder: Path, where: str, at: int) -> Prompt:
    body = _body(fields.body, folder, where)
    if body.get("model", plan.model) != plan.model:
        raise WarmError(f"{where}: its body names another model, {body['model']}")
    resource = fields.resource
    if resource is not None:
        if not RESOURCE.fullmatch(resource):
            raise WarmError(f"{where}: the resource '{resource}' is no cachedContents/…")
        resource = f"cachedContents/{resource.removeprefix('cachedContents/')}"
    problem = DIALECTS[plan.dialect].problem(body, resource)
    if problem is not None:
        raise WarmError(f"{where}: {problem}")
    lifetime = plan.lifetime if fields.lifetime is None else fields.lifetime
    size = len(msgspec.json.encode(body)) // BYTES_PER_TOKEN
    return Prompt(
        name=fields.name or f"prompt {at + 1}",
        body=body,
        resource=resource,
        tokens=max(1, size) if fields.tokens is None else _count(fields.tokens, f"{where}: tokens"),
        tokens_given=fields.tokens is not None,
        lifetime=None if lifetime is None else str(lifetime),
        expected=_expected(fields, plan, where),
    )


def _twice(node: Any, seen: set[int]) -> Iterator[str]:
    """Names that an object has more than once, of which YAML would take the last."""
    if id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, yaml.MappingNode):
        names = Counter(key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode))
        yield from (name for name, count in names.items() if count > 1)
        for _, value in node.value:
            yield from _twice(value, seen)
    elif isinstance(node, yaml.SequenceNode):
        for each in node.value:
            yield from _twice(each, seen)


def _body(given: dict[str, Any] | str | None, folder: Path, where: str) -> dict[str, Any]:
    """Inline, or in a file beside the plan."""
    if not isinstance(given, str):
        return given or {}
    path = folder / given
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except OSError as error:
        raise WarmError(f"{where}: {path}: {error.strerror}") from None
    except (msgspec.MsgspecError, RecursionError) as error:
        raise WarmError(f"{where}: {path} is no JSON object: {error}") from None


def _expected(fields: _Prompt, plan: _Plan, where: str) -> Expected:
    uses = plan.uses if fields.uses is None else fields.uses
    if uses is None:
        raise WarmError(f"{where}: say how many 'uses' are expected: they are what pays for calls")
    own = fields.every is not None or fields.gaps is not None
    every, gaps = (fields.every, fields.gaps) if own else (plan.every, plan.gaps)
    if every is not None and gaps is not None:
        raise WarmError(f"{where}: 'every' is the only gap, 'gaps' are many: give one of them")
    listed = gaps if gaps is not None else [] if every is None else [every]
    worth = plan.worth if fields.worth is None else fields.worth
    return Expected(
        uses=_count(uses, f"{where}: uses"),
        gaps=[seconds(gap, f"{where}: a gap") for gap in listed],
        worth=Decimal(str(worth or 0)),
    )


def _count(given: int | str, what: str) -> int:
    return parse_tokens(str(given), what, WarmError)


def seconds(text: Duration, what: str) -> float:
    """Raises WarmError for what is no time longer than nothing."""
    found = parse_seconds(str(text), what, WarmError)
    if not found:
        raise WarmError(f"{what} of no time")
    return found
