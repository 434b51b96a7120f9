"""Everything an operator can choose, read once at the edge. Plain data: it imports no room."""

import datetime
from dataclasses import dataclass
from typing import Literal

DEFAULT_MODEL = "smollm2-135m-instruct"


@dataclass(frozen=True, slots=True)
class Settings:
    """How one server is run. Sizes are bytes or tokens as their names say."""

    model: str = DEFAULT_MODEL
    """The default's name, a Hugging Face directory, a GGUF file or a hub id."""
    served_model_name: str | None = None
    """The name clients ask for; None derives it from `model`."""
    dtype: Literal["bfloat16", "float32"] = "bfloat16"
    device: Literal["cpu", "cuda", "auto"] = "auto"
    load_format: Literal["auto", "dummy"] = "auto"
    """`dummy` fills the shape that a config names with random weights."""
    loras: tuple[tuple[str, str], ...] = ()
    """(name, PEFT directory) pairs; clients choose one by its name."""
    block_size: int = 16
    """Positions in one KV block."""
    kv_memory_bytes: int | None = None
    """None takes a quarter of the machine's RAM."""
    max_batch_tokens: int = 512
    """Tokens computed in one engine step, prefill and decode together."""
    max_running: int = 64
    max_waiting: int = 256
    max_body_bytes: int = 32 * 1024 * 1024
    context_length: int | None = None
    """None is the model's own."""
    template_date: datetime.date | None = None
    """What chat templates show as today. None leaves them without a clock."""
    deterministic: bool = False
    """Cold and warm runs agree bit for bit."""
    prefix_cache: bool = True
    api_key: str | None = None
    """The operator's key (tenant ""): opens the API and the operator's endpoints."""
    api_keys_file: str | None = None
    """A file of lines `key tenant`."""
    drain_seconds: float = 30.0
    threads: int | None = None
    """CPU threads of the model; None lets torch choose."""
    host: str = "127.0.0.1"
    port: int = 8000
