"""What is stored costs by the hour, until the very moment that a server is killed."""

import signal
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from decimal import Decimal
from pathlib import Path

import pytest
from google import genai
from google.genai import types
from tests.server.test_run import Process

from headstart.ledger import report

MODEL = "gemini-2.5-flash"


@pytest.mark.slow
def test_kill_9_loses_at_most_the_last_second_of_rent(
    tiny_checkpoint: Callable[..., Path], tmp_path: Path
) -> None:
    """No call but the creation: nothing had the rent written down on the way."""
    path = tmp_path / "ledger.db"
    checkpoint = str(tiny_checkpoint("llama", max_position_embeddings=4096))
    sizes = ("--dtype", "float32", "--kv-memory", "8MiB", "--threads", "1", "--port", "0")
    process = Process(
        "--model", checkpoint, "--as", f"gemini={MODEL}", "--ledger", str(path), *sizes
    )
    try:
        options = types.HttpOptions(base_url=process.url(), client_args={"trust_env": False})
        client = genai.Client(api_key="any", http_options=options)
        begin = time.time()
        config: types.CreateCachedContentConfigDict = {"contents": "0 " * 1100, "ttl": "7200s"}
        content = client.caches.create(model=MODEL, config=config)
        created = time.time()
        time.sleep(2.5)
        killed = time.time()
        process.popen.send_signal(signal.SIGKILL)
    finally:
        process.status()

    assert content.usage_metadata is not None
    size = content.usage_metadata.total_token_count or 0
    total = report(path).total
    assert size * (killed - created - 1) <= total.token_seconds <= size * (killed - begin)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        query = "SELECT COUNT(*) FROM requests WHERE dialect = 'gemini.storage'"
        ((rows,),) = connection.execute(query)
    assert rows == 1 + (int(killed // 3600) - int(begin // 3600))
    # $1.00 for a million token-hours (rules.toml), to the pico-dollar.
    due = Decimal(total.token_seconds) / 3600 / 1_000_000
    assert total.rent is not None
    assert abs(total.rent - due) < Decimal("1e-11")
