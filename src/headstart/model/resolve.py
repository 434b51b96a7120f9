"""From what the operator wrote after `--model` to a checkpoint on this machine."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from headstart.model.default import DEFAULT_MODEL, fetch_default_model
from headstart.model.errors import ModelError

_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")
_HUB_FILES = ["*.json", "*.safetensors", "*.jinja"]


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A model on this machine."""

    name: str
    """What clients call it."""
    kind: Literal["huggingface", "gguf", "config"]
    path: Path
    """The directory with `config.json`, the GGUF file, or a lone config in Hugging Face's form."""


def resolve(model: str) -> Checkpoint:
    """`model` is the default model's name, a directory, a GGUF file, or a hub id `owner/name`.

    What exists on the disk wins over a hub id. Raises ModelError when there is no such model.
    """
    if model == DEFAULT_MODEL:
        return Checkpoint(DEFAULT_MODEL, "gguf", fetch_default_model())
    path = Path(model).expanduser()
    if path.is_dir():
        if not (path / "config.json").is_file():
            raise ModelError(f"{path} has no config.json. Give a Hugging Face directory.")
        return Checkpoint(path.resolve().name, "huggingface", path)
    if path.is_file():
        if path.suffix.lower() == ".gguf":
            return Checkpoint(path.stem, "gguf", path)
        if path.suffix == ".json":
            name = path.resolve().parent.name if path.stem == "config" else path.stem
            return Checkpoint(name, "config", path)
        raise ModelError(f"{path} is neither a GGUF file (.gguf) nor a config (.json).")
    if _HUB_ID.fullmatch(model) and path.suffix != ".gguf" and not model.startswith("."):
        return Checkpoint(model, "huggingface", _from_hub(model))
    raise ModelError(
        f"no model {model!r}: there is no such directory or file, and a hub id is owner/name. "
        f"The default is {DEFAULT_MODEL}."
    )


def _from_hub(name: str) -> Path:
    """The hub's files in its own cache folder; without a network, what is there already."""
    from huggingface_hub import snapshot_download  # seconds to import, and rarely needed

    try:
        return Path(snapshot_download(name, allow_patterns=_HUB_FILES))
    except (OSError, ValueError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise ModelError(
            f"{name} could not be fetched from the hub: {reason} "
            "Check the id, the network and, for a gated model, HF_TOKEN; or give a local directory."
        ) from None
