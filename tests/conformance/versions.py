"""The checks with the oldest and the newest supported version of each vendor's SDK.

`make sdks`, or `python tests/conformance/versions.py [openai] [anthropic] [google-genai]` in the
environment of the tests. Each version gets a virtual environment of its own, which sees everything
else of this one; only the SDK, and what it wants otherwise, is installed from the registry. One row
of a table a version; the exit status is 1 if a check failed. Some five minutes.
"""

import re
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from xml.etree import ElementTree

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
STATED = ROOT / "docs" / "dialects.md"
_ROW = re.compile(r"^\| `([a-z-]+)` \| ([0-9.]+) \| ([0-9.]+) \|", re.MULTILINE)
TESTS: Mapping[str, tuple[str, ...]] = {
    "openai": ("test_openai*.py", "test_deepseek*.py"),
    "anthropic": ("test_anthropic*.py",),
    "google-genai": ("test_gemini*.py",),
}
"""Which files speak through an SDK."""


def supported() -> dict[str, tuple[str, str]]:
    """The oldest and the newest version of each SDK, as docs/dialects.md states them."""
    return {name: (old, new) for name, old, new in _ROW.findall(STATED.read_text())}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one run of pytest came to."""

    passed: int
    failed: int
    skipped: int
    seconds: float

    @classmethod
    def read(cls, report: Path) -> Self:
        """From pytest's JUnit file."""
        suite = ElementTree.parse(report).getroot().find("testsuite")
        assert suite is not None, report
        count = {name: int(suite.attrib[name]) for name in ("tests", "errors", "failures")}
        failed, skipped = count["errors"] + count["failures"], int(suite.attrib["skipped"])
        passed = count["tests"] - failed - skipped
        return cls(passed, failed, skipped, float(suite.attrib["time"]))


def environment(folder: Path, name: str, version: str) -> Path:
    """A Python that has this one's packages, and that version of the SDK before them."""
    subprocess.run((sys.executable, "-m", "venv", "--without-pip", folder), check=True)
    python = folder / "bin" / "python"
    paths = {"base": str(folder), "platbase": str(folder)}
    own = Path(sysconfig.get_path("purelib", "venv", vars=paths))
    ours = sysconfig.get_path("purelib")
    (own / "ours.pth").write_text(f"import site; site.addsitedir({ours!r})\n")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python)
    subprocess.run((*pip, "install", "--quiet", f"{name}=={version}"), check=True)
    return python


def check(name: str, version: str) -> Outcome:
    """Run the checks of one SDK with one version of it."""
    with tempfile.TemporaryDirectory() as folder:
        python = environment(Path(folder) / "venv", name, version)
        report = Path(folder) / "report.xml"
        files = [file for pattern in TESTS[name] for file in sorted(HERE.glob(pattern))]
        options = ("-p", "no:cacheprovider", f"--junitxml={report}")
        subprocess.run((python, "-m", "pytest", *options, *files), cwd=ROOT, check=False)
        return Outcome.read(report)


def rows(names: list[str]) -> Iterator[tuple[str, Outcome]]:
    """One for each version to be run."""
    for name, versions in supported().items():
        for version in dict.fromkeys(versions if name in (names or TESTS) else ()):
            yield f"{name} {version}", check(name, version)


def main(names: list[str]) -> int:
    """Run them, print the table; the exit status."""
    if unknown := set(names) - set(TESTS):
        raise SystemExit(f"no such SDK: {', '.join(sorted(unknown))}")
    outcomes = dict(rows(names))
    print("\n| SDK | passed | skipped | failed | s |\n" + "|---" * 5 + "|")
    for sdk, each in outcomes.items():
        print(f"| {sdk} | {each.passed} | {each.skipped} | {each.failed} | {each.seconds:.0f} |")
    return int(any(each.failed or not each.passed for each in outcomes.values()))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
