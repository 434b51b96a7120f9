import io

from rich.console import Console

from headstart.insight.bench.table import Table, markdown, plain, rich

TABLE = Table("T", ("P", "cold ms"), (("1000", "26"), ("70", "131 (120-140)")), ("a note",))


def test_plain_columns_are_right_aligned() -> None:
    assert plain(TABLE).splitlines() == [
        "T",
        "   P        cold ms",
        "1000             26",
        "  70  131 (120-140)",
        "a note",
    ]


def test_markdown_is_a_github_table() -> None:
    assert markdown(TABLE).splitlines() == [
        "### T",
        "",
        "| P | cold ms |",
        "| ---: | ---: |",
        "| 1000 | 26 |",
        "| 70 | 131 (120-140) |",
        "",
        "- a note",
    ]


def test_the_terminal_form_shows_every_cell_as_it_is() -> None:
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(rich(Table("T", ("a",), (("[red]x",),), ("n",))))
    shown = console.export_text()
    assert "[red]x" in shown
    assert "n" in shown
