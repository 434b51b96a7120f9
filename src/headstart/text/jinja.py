"""The Jinja environment chat templates are written for: Hugging Face's settings, sandboxed."""

import datetime
import json
from collections.abc import Callable
from typing import Any, NoReturn

import jinja2
from jinja2 import nodes
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from headstart.text.verbatim import dump_verbatim


class GenerationBlock(Extension):
    """Accepts `{% generation %}…{% endgeneration %}`, a training mark: the body as if unmarked."""

    tags = {"generation"}  # noqa: RUF012 (Jinja's own contract)

    def parse(self, parser: Parser) -> list[nodes.Node]:
        """Read the block and give back its body."""
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def chat_environment(date: datetime.date | None) -> jinja2.Environment:
    """An environment in which rendering is a pure function of its arguments.

    There is no clock: `strftime_now` renders `date` at midnight, and does not exist where `date` is
    None, so that templates with a date of their own (Llama 3) use that one (STAB-01).
    """
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[GenerationBlock, loopcontrols]
    )
    environment.filters["tojson"] = _tojson
    environment.globals["raise_exception"] = _raise_exception
    if date is not None:
        environment.globals["strftime_now"] = _fixed_clock(date)
    return environment


def _tojson(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """JSON in the value's own key order and without Jinja's HTML escapes."""
    if indent is None and separators is None and not sort_keys:
        return dump_verbatim(value, ensure_ascii=ensure_ascii)
    return json.dumps(
        value,
        ensure_ascii=ensure_ascii,
        indent=indent,
        separators=separators,
        sort_keys=sort_keys,
    )


def _raise_exception(message: str) -> NoReturn:
    raise jinja2.TemplateError(message)


def _fixed_clock(date: datetime.date) -> Callable[[str], str]:
    midnight = datetime.datetime.combine(date, datetime.time())
    return lambda layout: midnight.strftime(layout)
