"""One account a request: the ledger, `GET /v1/usage` and the counters agree to the token."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import torch

from headstart.engine.build import build_engine
from headstart.ledger import report
from headstart.model.load import LoadedModel, load_model
from headstart.server.app import create_app
from headstart.server.books import open_store
from headstart.settings import Settings


@dataclass(frozen=True)
class Kept:
    """A server that keeps a ledger."""

    live: Any
    path: Path


@pytest.fixture(scope="module")
def kept(tiny: LoadedModel, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    folder = tmp_path_factory.mktemp("ledger")
    keys = folder / "keys"
    keys.write_text("ka alice\nka2 alice\nkb bob\n")
    prices = folder / "prices.toml"
    prices.write_text('[models.engine."tiny"]\ninput = 5\noutput = 10\nread = 0.5\n')
    with keeping(
        tiny,
        ledger=str(folder / "ledger.db"),
        prices=str(prices),
        api_key="op",
        api_keys_file=str(keys),
    ) as live:
        yield Kept(live, folder / "ledger.db")


@contextmanager
def keeping(tiny: LoadedModel, **fields: Any) -> Iterator[Any]:
    from tests.server.conftest import Live, on_a_socket

    settings = replace(
        Settings(
            dtype="float32", served_model_name="tiny", kv_memory_bytes=8 << 20, drain_seconds=0
        ),
        **fields,
    )
    engine = build_engine(tiny, settings)
    with open_store(settings) as store:
        app = create_app(engine, tiny.codec, settings, store=store)
        with on_a_socket(app, settings, engine) as url:
            yield Live(url, engine, tiny.codec)


def counted(live: Any) -> dict[str, int]:
    """The sums of headstart_account_tokens_total by kind."""
    sums: dict[str, int] = {}
    for line in live.get("/metrics", "op").text.splitlines():
        if line.startswith("headstart_account_tokens_total{"):
            kind = line.split('kind="')[1].split('"')[0]
            sums[kind] = sums.get(kind, 0) + int(float(line.rsplit(" ", 1)[1]))
    return sums


def test_ledger_usage_and_counters_say_the_same_of_every_way_a_request_can_end(
    kept: Kept, words: Any, eventually: Any
) -> None:
    live, client = kept.live, kept.live.client("ka")
    messages = words("usage", 30)
    usages = []
    for _ in range(2):
        usages.append(
            client.chat.completions.create(model="tiny", messages=messages, max_tokens=3).usage
        )
    with client.chat.completions.create(
        model="tiny",
        messages=messages,
        max_tokens=4,
        stream=True,
        stream_options={"include_usage": True},
    ) as stream:
        *_, last = stream
        usages.append(last.usage)
    many = client.completions.create(model="tiny", prompt=["one", "two"], max_tokens=2, n=2)
    usages.append(many.usage)
    begun = live.client("ka", strict=False).completions.create(
        model="tiny",
        prompt="left alone",
        max_tokens=900,
        stream=True,
        extra_body={"ignore_eos": True},
    )
    next(iter(begun))
    begun.close()
    failed = live.post("/v1/completions", "ka", model="tiny", prompt="x", max_tokens=10**6)
    assert failed.status_code == 400

    def ended() -> bool:
        return bool(report(kept.path).total.requests == 5)

    live.get("/v1/usage", "op")
    eventually(ended)
    total = live.get("/v1/usage", "op").json()["total"]
    assert total["requests"] == 5
    sums = counted(live)
    for kind in ("fresh", "read", "output"):
        assert total[f"{kind}_tokens"] == sums[kind]
    found = report(kept.path).total
    assert (found.prompt, found.read, found.output) == (
        total["prompt_tokens"],
        total["read_tokens"],
        total["output_tokens"],
    )
    told = [usage.prompt_tokens_details.cached_tokens for usage in usages]
    assert total["read_tokens"] == sum(told) > 0
    answered = sum(usage.completion_tokens for usage in usages)
    assert answered < total["output_tokens"] < answered + 900
    assert found.saved == found.read * Decimal("4.5") / 1_000_000


def test_acct_04_a_warm_request_costs_the_same_streamed_and_whole(kept: Kept, words: Any) -> None:
    create = kept.live.client("ka").chat.completions.create
    fields: Any = {"model": "tiny", "messages": words("streamed", 30), "max_tokens": 3}
    create(**fields)
    names = [create(**fields).id]
    *_, last = create(**fields, stream=True)
    names.append(last.id)
    kept.live.get("/v1/usage", "op")
    with sqlite3.connect(kept.path) as connection:
        rows = connection.execute(
            "SELECT prompt, read, output, paid FROM requests WHERE request IN (?, ?)", names
        ).fetchall()
    assert len(rows) == 2
    assert len(set(rows)) == 1
    prompt, read, _, _ = rows[0]
    assert read == prompt - 1


def test_a_tenant_sees_its_own_sums_and_the_operator_all_or_one(kept: Kept) -> None:
    live = kept.live
    live.client("kb").completions.create(model="tiny", prompt="of bob", max_tokens=1)
    bobs = live.get("/v1/usage?by=tenant", "kb").json()
    assert [group["name"] for group in bobs["groups"]] == ["bob"]
    everyones = live.get("/v1/usage?by=tenant", "op").json()
    assert {group["name"] for group in everyones["groups"]} >= {"bob"}
    one = live.get("/v1/usage?tenant=bob", "op").json()
    assert one["total"] == bobs["total"]
    curious = live.get("/v1/usage?tenant=alice", "kb").json()
    assert curious["total"] == bobs["total"]


def test_keys_are_told_apart_without_being_told(kept: Kept) -> None:
    for key in ("ka", "ka2"):
        kept.live.client(key).completions.create(model="tiny", prompt="which key", max_tokens=1)
    groups = kept.live.get("/v1/usage?by=key&tenant=alice", "op").json()["groups"]
    names = [group["name"] for group in groups]
    assert len(set(names)) == 2
    assert not {"ka", "ka2"} & set(names)


@pytest.mark.parametrize("query", ["by=colour", "since=yesterday", "until=never"])
def test_what_the_report_does_not_know_is_400_with_the_fields_name(kept: Kept, query: str) -> None:
    answer = kept.live.get(f"/v1/usage?{query}", "op")
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == query.split("=")[0]


def test_without_a_ledger_usage_says_how_to_keep_one(live: Any) -> None:
    answer = live.get("/v1/usage")
    assert answer.status_code == 404
    assert "--ledger" in answer.json()["error"]["message"]


def test_money_is_by_the_price_file_and_rows_name_dialect_contract_and_reason(kept: Kept) -> None:
    kept.live.get("/v1/usage", "op")
    with sqlite3.connect(kept.path) as connection:
        rows = connection.execute(
            "SELECT prompt, read, output, paid, plain, dialect, contract, reason, ttft"
            " FROM requests"
        ).fetchall()
    assert rows
    for prompt, read, output, paid, plain, dialect, contract, reason, ttft in rows:
        micro = 10**6  # Pico-dollars for a token at a dollar a million.
        assert plain == (5 * prompt + 10 * output) * micro
        assert paid == plain - 4.5 * read * micro
        assert dialect in ("openai.chat", "openai.text")
        assert contract == "engine"
        assert reason
        assert ttft > 0


@pytest.mark.parametrize("vendor", ["anthropic", "openai"])
def test_a_prewarm_would_cost_nothing_without_a_cache(
    tiny_checkpoint: Callable[..., Path], tmp_path: Path, vendor: str
) -> None:
    """Nobody would send it (docs/ledger.md): what it saves is less than nothing."""
    checkpoint = tiny_checkpoint("llama", max_position_embeddings=4096)
    loaded = load_model(str(checkpoint), dtype=torch.float32, device=torch.device("cpu"))
    prices = tmp_path / "prices.toml"
    prices.write_text(f'[models.{vendor}."m"]\ninput = 10\noutput = 10\n')
    path = tmp_path / "ledger.db"
    text = "~" * 1100
    with keeping(loaded, aliases=((vendor, "m"),), ledger=str(path), prices=str(prices)) as live:
        if vendor == "openai":
            live.client().responses.create(
                model="m", input=text, prompt_cache_options={"prewarm": True}
            )
            lifetime = "30m"
        else:
            mark = {"type": "ephemeral"}
            body = {"model": "m", "max_tokens": 0, "messages": [{"role": "user", "content": text}]}
            headers = {"x-api-key": "k", "anthropic-version": "2026-10-21"}
            with live.http() as http:
                answer = http.post(
                    "/v1/messages", json=body | {"cache_control": mark}, headers=headers
                )
            assert answer.status_code == 200, answer.text
            lifetime = "5m"
        told = live.get("/v1/usage").json()["total"]
    written = told["written"][lifetime]
    # A write at 1.25 stands against nothing, and a read saves 0.9 (rules.toml).
    assert written["break_even"] == pytest.approx(1.25 / 0.9, abs=1e-6)
    assert Decimal(told["without_cache"]) == 0
    paid = (told["fresh_tokens"] + Decimal("1.25") * written["tokens"]) * 10 / 1_000_000
    assert Decimal(told["paid"]) == paid > 0
