"""Options that the commands over recorded requests have in common."""

from pathlib import Path
from typing import Annotated, Literal

import typer

Provider = Annotated[
    Literal["auto", "openai", "anthropic", "gemini", "deepseek", "vllm", "sglang", "headstart"],
    typer.Option(help="Whose cache rules apply; else as each request says."),
]
Model = Annotated[
    str | None, typer.Option(help="For bodies that don't name one; Gemini's never do.")
]
TokenizerChoice = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE|NAME",
        help="Count by a tokenizer.json, or o200k, cl100k, llama3, qwen3; else an estimate.",
    ),
]
