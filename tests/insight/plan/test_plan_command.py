"""`headstart plan`, as it is run."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

CODE = "from headstart.cli import main; main()"
HEAVY = ("torch", "matplotlib", "numpy", "transformers", "starlette", "tokenizers")
COMMAND = (
    *("--model", "llama-3-8b", "--prefix", "4000", "--question", "200"),
    *("--gpu-memory", "80GB", "--flops", "400e12", "--overhead-ms", "30"),
)


def plan(*args: str | Path, code: str = CODE) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", code, "plan", *map(str, args)],
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_command_line_of_the_issue_works_to_the_letter() -> None:
    done = plan(*COMMAND, "--format", "json")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    told = json.loads(done.stdout)
    assert told["figures"]["kv_bytes_per_token"]["value"] == 131_072
    assert told["figures"]["miss_linear_flops"]["usual"]["value"] == 6.72e13
    assert told["figures"]["ttft_ratio"]["usual"]["value"] == pytest.approx(198 / 38)


@pytest.mark.slow
def test_text_csv_and_a_plot_in_one_go(tmp_path: Path) -> None:
    done = plan(*COMMAND, "--plot", tmp_path / "out.svg")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("llama-3-8b: https://")
    assert (tmp_path / "out.svg").read_text().startswith("<?xml")
    table = plan(*COMMAND, "--format", "csv").stdout
    assert table.splitlines()[0] == "section,key,value,unit,kind,usual,usual_formula"
    assert "Model and KV,kv_bytes_per_token,131072,bytes/token,derived,," in table


def test_it_needs_nothing_heavy() -> None:
    code = (
        "import sys\nfrom headstart.cli import app\n"
        "try:\n app(prog_name='headstart')\nfinally:\n"
        f" print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr)"
    )
    assert plan(*COMMAND, code=code).stderr.strip() == "[]"


def test_a_finding_is_exit_status_1() -> None:
    done = plan("--model", "llama-3-70b")
    assert done.returncode == 1
    assert "! The weights don't fit: 69.1 GB too much on each GPU." in done.stdout


def test_an_unknown_price_is_exit_status_3_and_the_rest_is_printed() -> None:
    done = plan(*COMMAND, "--price", "openai/gpt-99", "--format", "json")
    assert done.returncode == 3
    assert done.stderr == (
        "headstart plan: The price of openai/gpt-99 is unknown; give one with --prices FILE.\n"
    )
    told = json.loads(done.stdout)
    assert told["figures"]["ceiling"]["value"] == pytest.approx(4000 / 4200)
    assert "uses" not in told["tables"]


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        ((), "Name a --model"),
        (("--model", "gpt-9"), "'gpt-9' is neither a model of the catalogue"),
        (("--model", "absent.json"), "absent.json can't be read"),
        (("--model", "llama-3-8b", "--gpu-memory", "lots"), "--gpu-memory 'lots' is no"),
        (("--model", "llama-3-8b", "--flops", "0"), "--flops '0' is no rate"),
        (("--model", "llama-3-8b", "--kv-dtype", "int3"), "'int3' is no KV type"),
        (("--model", "llama-3-8b", "--kv-dtype", "fp8_ds_mla"), "for latent attention"),
        (("--model", "llama-3-8b", "--reserve", "100%"), "leaves nothing"),
        (("--model", "llama-3-8b", "--trace", "absent.jsonl.gz"), "absent.jsonl.gz"),
        (("--model", "llama-3-8b", "--plot", "out.pdf"), "a plot ends in"),
        (("--model", "llama-3-8b", "--price", "openai/"), "'openai/' is not VENDOR/MODEL"),
        (("--url", "http://127.0.0.1:9", "--gpu-memory", "80GB"), "--gpu-memory says nothing"),
        (("--model", "llama-3-8b", "--api-key", "k"), "--api-key says nothing without --url"),
        (("--url", "http://127.0.0.1:9"), "no server answers at http://127.0.0.1:9"),
        (("--url", "http://[bad"), "http://[bad is no URL"),
    ],
)
def test_what_cannot_be_planned_is_one_line_and_exit_status_2(
    args: tuple[str, ...], problem: str
) -> None:
    done = plan(*args)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("headstart plan: ")
    assert problem in done.stderr
    assert done.stderr.count("\n") == 1


def test_options_out_of_range_are_exit_status_2() -> None:
    assert plan("--model", "llama-3-8b", "--prefix", "0").returncode == 2
    assert plan("--model", "llama-3-8b", "--no-such-option").returncode == 2


def test_help_costs_little_more_than_the_command_itself() -> None:
    """No more than typer itself: the whole has 0.3 s, most of which the interpreter takes."""
    code = (
        "import sys, typer\n"
        "from headstart.insight.plan.command import plan\n"
        "print(sorted(n for n in sys.modules if n.startswith('headstart')))"
    )
    listed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert listed.strip() == (
        "['headstart', 'headstart.insight', 'headstart.insight.plan',"
        " 'headstart.insight.plan.command', 'headstart.options', 'headstart.quantities']"
    )
    assert "--gpu-memory" in plan("--help").stdout
