"""The README's script runs as printed against a server started by its command."""

import asyncio
import re
import subprocess
import sys
from pathlib import Path

import pytest

from headstart.insight.bench.launch import serving

README = Path(__file__).parents[1] / "README.md"
ADDRESS = "127.0.0.1:8000"


@pytest.mark.slow
def test_the_script_in_the_readme_shows_cached_tokens_on_the_second_call(
    default_model_path: Path,
) -> None:
    (script,) = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    assert ADDRESS in script

    async def run() -> str:
        async with serving(("--kv-memory", "256MiB")) as server:
            # Only the port differs from what is printed: 8000 may be taken here.
            code = script.replace(f"http://{ADDRESS}/v1", server.url)
            done = await asyncio.to_thread(
                subprocess.run,
                [sys.executable, "-c", code],
                check=True,
                capture_output=True,
                text=True,
                timeout=240,
            )
            return done.stdout

    printed = asyncio.run(run())
    counts = re.findall(r"^(\d+) of (\d+) prompt tokens reused$", printed, re.MULTILINE)
    (first, prompt), (second, same) = counts
    assert (first, prompt) == ("0", same)
    # All but the question's own tokens and the rest of a block.
    assert int(prompt) - 48 < int(second) < int(prompt)
    assert "Paris" in printed
    assert "Rome" in printed
