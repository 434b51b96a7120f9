from headstart.insight.lint_code.lint import GENERATED, TOO_LONG, Source, lint


def test_a_function_that_takes_too_long_is_left_out_and_the_others_are_judged() -> None:
    loops = "".join(f"{' ' * (n + 1)}for x{n} in y:\n" for n in range(16))
    source = f"""
from datetime import datetime
def slow(y):
{loops}{" " * 17}z = x1
def f(c, q):
    return c.responses.create(instructions=str(datetime.now()), input=q)
"""
    report = lint([Source("a.py", source)])
    assert [trouble.reason for trouble in report.abstained] == [TOO_LONG]
    assert [finding.code for finding in report.findings] == ["HSC101"]


def test_a_bundle_is_left_out_and_said_so() -> None:
    report = lint([Source("bundle.js", "f(1);" * 20_000)])
    assert [trouble.reason for trouble in report.abstained] == [GENERATED]


def test_a_long_prompt_on_one_line_is_judged() -> None:
    report = lint([Source("prompt.py", f"P = {'x' * 20_000!r}\n")])
    assert (report.checked, list(report.abstained)) == (1, [])
