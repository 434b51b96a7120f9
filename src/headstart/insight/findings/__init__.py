"""What a linter found, and how people and programs read it.

A linter makes one `Report` of `Finding`s, each under a `Rule` with a stable code, and gives it to
`render(report, form)` and `exit_code(report)`:

    report = Report(
        tool="headstart lint", rules=RULES, findings=found, checked=12, unit="requests",
        problems=[Trouble(Place("a.json"), "is no JSON")],
    )
    print(render(report, "sarif"), end="")
    return exit_code(report, FailOn.parse("warning"))

- `place`: `Place`, a file with line and column or a JSON pointer.
- `finding`: `Finding`, `Severity`, `Evidence`, `Step`.
- `rule`: `Rule`, with its page; `page(rule)` and `pages(rules)` write it as Markdown.
- `report`: `Report`, `Trouble`, `exit_code`, `FailOn` (`--fail-on error|warning|note|CODE,...`).
- `selection`: `Selection` (`--select`/`--ignore`, by code or by the beginning of codes).
- `render`: `render(report, form)` for `text`, `json`, `sarif`, `github` and `md`; each form is one
  file with one function. All but `text` are meant for programs: the same report is the same text.
- `gather`: `in_order(findings)`.
"""
