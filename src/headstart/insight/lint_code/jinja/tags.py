"""Tags that templates use and Jinja does not know by itself."""

from jinja2 import Environment, nodes
from jinja2.ext import Extension
from jinja2.parser import Parser


class Tags(Extension):
    """`{% now ... %}` prints the clock (jinja2-time, Django); `{% generation %}` marks what a
    chat template's model says."""

    tags = {"now", "generation"}  # noqa: RUF012  (as the base class has it)

    def parse(self, parser: Parser) -> nodes.Node | list[nodes.Node]:
        """What stands for the tag."""
        tag = next(parser.stream)
        if tag.value == "generation":
            return parser.parse_statements(("name:endgeneration",), drop_needle=True)
        while parser.stream.current.type != "block_end":
            next(parser.stream)
        call = nodes.Call(nodes.Name("now", "load"), [], [], None, None, lineno=tag.lineno)
        return nodes.Output([call], lineno=tag.lineno)


def environment() -> Environment:
    """Only parses: nothing is rendered, so nothing of a template ever runs."""
    extensions: list[str | type[Extension]] = [
        "jinja2.ext.do",
        "jinja2.ext.loopcontrols",
        "jinja2.ext.i18n",
    ]
    return Environment(extensions=[*extensions, Tags])
