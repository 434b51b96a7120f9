"""A served model: config, weights, tokenizer and digest of one checkpoint."""

import datetime
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch
from platformdirs import user_cache_path

from headstart.model.assemble import assemble
from headstart.model.config import ModelConfig
from headstart.model.default import DEFAULT_MODEL, fetch_default_model
from headstart.model.digest import checkpoint_digest, dummy_digest
from headstart.model.dummy import SEED, DummySource
from headstart.model.errors import ModelError
from headstart.model.gguf_config import gguf_config
from headstart.model.gguf_file import read_gguf
from headstart.model.gguf_source import GgufSource
from headstart.model.hf_config import read_hf_config
from headstart.model.resolve import Checkpoint, resolve
from headstart.model.safetensors_source import open_safetensors, weight_files
from headstart.model.weights import Weights
from headstart.text.codec import Codec

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """Everything the engine needs of a model."""

    name: str
    """What clients call it."""
    config: ModelConfig
    weights: Weights
    codec: Codec
    digest: bytes
    """32 bytes over weights and config, whatever their path and dtype (design law 3)."""


def load_model(
    model: str,
    *,
    dtype: torch.dtype,
    device: torch.device,
    load_format: Literal["auto", "dummy"] = "auto",
    template_date: datetime.date | None = None,
) -> LoadedModel:
    """Load what `resolve(model)` finds; with `dummy` only its shape, filled with noise.

    Raises ModelError, by name, for what is missing, damaged or not supported; TextError for what
    is wrong with the tokenizer.
    """
    checkpoint = resolve(model)
    if load_format == "dummy":
        return _load_dummy(checkpoint, dtype, device)
    path = checkpoint.path
    match checkpoint.kind:
        case "gguf":
            file = read_gguf(path)
            config = gguf_config(file)
            codec = Codec.from_gguf(file.metadata, date=template_date)
            weights = assemble(GgufSource(file, config), config, dtype, device)
            digest = _digest([path], config)
        case "huggingface":
            files = weight_files(path)
            config = read_hf_config(path / "config.json")
            codec = Codec.from_directory(path, date=template_date)
            with open_safetensors(files) as source:
                weights = assemble(source, config, dtype, device)
            digest = _digest(files, config)
        case "config":
            raise ModelError(
                f"{path} is a config without weights. Give the model's directory, or "
                "--load-format dummy for random weights."
            )
    return LoadedModel(checkpoint.name, config, weights, codec, digest)


def _load_dummy(checkpoint: Checkpoint, dtype: torch.dtype, device: torch.device) -> LoadedModel:
    path = checkpoint.path
    match checkpoint.kind:
        case "gguf":
            file = read_gguf(path)
            config, codec = gguf_config(file), Codec.from_gguf(file.metadata)
        case "huggingface":
            config = read_hf_config(path / "config.json")
            codec = _codec_or_default(path, config)
        case "config":
            config = read_hf_config(path)
            codec = _codec_or_default(path.parent, config)
    weights = assemble(DummySource(config), config, dtype, device)
    return LoadedModel(checkpoint.name, config, weights, codec, dummy_digest(config, SEED))


def _codec_or_default(directory: Path, config: ModelConfig) -> Codec:
    """A bare config has no tokenizer; to measure a shape any will do."""
    if (directory / "tokenizer.json").is_file():
        return Codec.from_directory(directory)
    logger.warning("%s has no tokenizer.json: using %s's.", directory, DEFAULT_MODEL)
    codec = Codec.from_gguf(read_gguf(fetch_default_model()).metadata)
    if codec.vocab_size > config.vocab_size:
        raise ModelError(
            f"vocab_size = {config.vocab_size} is too small for the tokenizer of {DEFAULT_MODEL}, "
            f"which needs {codec.vocab_size}. Put the model's tokenizer.json into {directory}."
        )
    return codec


def _digest(files: Sequence[Path], config: ModelConfig) -> bytes:
    return checkpoint_digest(files, config, user_cache_path("headstart") / "digests")
