"""What may stand after `--model`. The hub is asked in processes of their own, offline."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from headstart.model.errors import ModelError
from headstart.model.resolve import Checkpoint, resolve


def test_the_defaults_name_is_its_gguf_file(default_model_path: Path) -> None:
    name = "smollm2-135m-instruct"
    assert resolve(name) == Checkpoint(name, "gguf", default_model_path)


def test_a_directory_is_called_by_its_own_name(
    tiny_checkpoint: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tiny_checkpoint()
    assert resolve(str(path)) == Checkpoint(path.name, "huggingface", path)
    monkeypatch.chdir(path)
    assert resolve(".").name == path.name


def test_a_gguf_file_is_called_by_its_stem(tmp_path: Path) -> None:
    path = tmp_path / "Some.Q8_0.gguf"
    path.touch()
    assert resolve(str(path)) == Checkpoint("Some.Q8_0", "gguf", path)


def test_a_config_is_called_by_its_stem_or_its_directory(tmp_path: Path) -> None:
    for name, expected in (("llama-8b.json", "llama-8b"), ("config.json", tmp_path.name)):
        path = tmp_path / name
        path.touch()
        assert resolve(str(path)) == Checkpoint(expected, "config", path)


@pytest.mark.parametrize("model", ["./nowhere", "nowhere", "/no/such/dir", "no/such.gguf"])
def test_what_is_not_there_is_refused_by_name(model: str) -> None:
    with pytest.raises(ModelError, match=f"no model '{model}'"):
        resolve(model)


def test_a_directory_without_a_config_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"has no config\.json"):
        resolve(str(tmp_path))


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    (tmp_path / "pytorch_model.bin").touch()
    with pytest.raises(ModelError, match="neither a GGUF file"):
        resolve(str(tmp_path / "pytorch_model.bin"))


def resolve_offline(hub: Path, model: str) -> dict[str, str]:
    script = """
import json, sys
from headstart.model.errors import ModelError
from headstart.model.resolve import resolve
try:
    found = resolve(sys.argv[1])
    print(json.dumps({"name": found.name, "kind": found.kind, "path": str(found.path)}))
except ModelError as error:
    print(json.dumps({"error": str(error)}))
"""
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HUB_CACHE": str(hub)}
    output = subprocess.run(
        [sys.executable, "-c", script, model], env=environment, capture_output=True, check=True
    ).stdout
    answer: dict[str, str] = json.loads(output)
    return answer


def test_a_hub_model_in_the_hubs_cache_needs_no_network(tmp_path: Path) -> None:
    commit = "0123456789abcdef0123456789abcdef01234567"
    repository = tmp_path / "models--owner--tiny"
    snapshot = repository / "snapshots" / commit
    snapshot.mkdir(parents=True)
    (snapshot / "config.json").write_text("{}")
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(commit)
    assert resolve_offline(tmp_path, "owner/tiny") == {
        "name": "owner/tiny",
        "kind": "huggingface",
        "path": str(snapshot),
    }


def test_a_hub_model_that_can_not_be_had_is_refused_with_a_way_out(tmp_path: Path) -> None:
    error = resolve_offline(tmp_path, "owner/unknown")["error"]
    assert error.startswith("owner/unknown could not be fetched from the hub: ")
    assert error.endswith("or give a local directory.")
