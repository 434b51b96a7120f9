"""ACCT: usage, cost and metrics are wrong. What a rendering decides is in `tests/dialects`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from tests.failure_kinds.drive import prompt_of, served
from tests.server.conftest import Live

from headstart.model.load import LoadedModel
from headstart.server.banner import print_banner
from headstart.settings import Settings


@pytest.fixture(scope="module")
def chunked(tiny: LoadedModel) -> Iterator[Live]:
    """A prompt of some length is computed in many steps."""
    with served(tiny, max_batch_tokens=32) as live:
        yield live


def account(live: Live, prompt: list[int], *, stream: bool, model: str = "tiny") -> tuple[int, int]:
    """The prompt's tokens and the cached ones, as usage tells them."""
    client = live.client(strict=False)  # Stream pieces have no reason, which its types want.
    fields: dict[str, Any] = {"model": model, "prompt": prompt, "max_tokens": 2}
    if stream:
        fields |= {"stream": True, "stream_options": {"include_usage": True}}
        *_, last = client.completions.create(**fields)
        usage = last.usage
    else:
        usage = client.completions.create(**fields).usage
    assert usage is not None
    assert usage.prompt_tokens_details is not None
    assert usage.prompt_tokens_details.cached_tokens is not None
    return usage.prompt_tokens, usage.prompt_tokens_details.cached_tokens


def test_acct_08_a_prompts_size_is_the_same_however_much_of_it_is_cached(live: Live) -> None:
    """For each vendor's SDK; nothing of the answer is ever counted with the prompt."""
    text = "How many tokens is this, " * 8
    asked: Any = [{"role": "user", "content": text}]
    sizes = set()
    openai, anthropic, gemini = live.client(), live.anthropic(), live.gemini()
    for _ in range(5):
        chat = openai.chat.completions.create(model="tiny", messages=asked, max_tokens=4)
        assert chat.usage is not None
        sizes.add(chat.usage.prompt_tokens)
        whole = anthropic.messages.create(model="tiny", messages=asked, max_tokens=4).usage
        cached = (whole.cache_read_input_tokens or 0) + (whole.cache_creation_input_tokens or 0)
        sizes.add(whole.input_tokens + cached)
        told = gemini.models.generate_content(model="tiny", contents=text).usage_metadata
        assert told is not None
        sizes.add(told.prompt_token_count or 0)
        assert chat.usage.completion_tokens_details is not None
        assert chat.usage.completion_tokens_details.reasoning_tokens == 0
    assert len(sizes) == 1


@pytest.mark.parametrize("stream", [False, True])
def test_acct_12_what_the_first_match_found_is_told_after_however_many_chunks(
    chunked: Live, stream: bool
) -> None:
    """There is one stage here; its chunks are what could overwrite the count."""
    known = prompt_of(100, seed=120 + stream)
    longer = [*known, *prompt_of(150, seed=122 + stream)]
    assert account(chunked, known, stream=stream) == (100, 0)
    assert account(chunked, longer, stream=stream) == (250, 100)
    assert account(chunked, longer, stream=stream) == (250, 249)


@pytest.mark.parametrize(("deterministic", "unit"), [(False, 1), (True, 256)])
def test_acct_17_the_unit_that_hits_are_cut_to_is_told_and_holds(
    tiny: LoadedModel, deterministic: bool, unit: int
) -> None:
    """In the banner, the metrics and /cache. Prompts of half of it (or of a block) to three."""
    with served(tiny, deterministic=deterministic) as live:
        assert live.get("/cache").json()["reuse_unit"] == unit
        assert f"headstart_reuse_unit_tokens {unit:.1f}\n" in live.get("/metrics").text
        console = Console(width=200)
        with console.capture() as banner:
            print_banner(console, tiny, live.engine, Settings(), live.url)
        told = f"whole chunks of {unit} tokens" if deterministic else "single tokens"
        assert f"reused in {told}" in banner.get()
        for halves in (1, 2, 3, 4, 6):
            length = max(unit, 16) * halves // 2
            prompt = prompt_of(length, seed=17)
            assert account(live, prompt, stream=False) == (length, 0)
            most = (length - 1) // unit * unit
            assert account(live, prompt, stream=False) == (length, most)


def test_acct_17_a_models_minimum_is_told_and_the_ledger_names_it_where_nothing_could_be_read(
    tiny: LoadedModel, tmp_path: Path
) -> None:
    """GPT-4o's 1,024 tokens: the KV is reused all the same, but not a token is billed as read."""
    book = tmp_path / "ledger.db"
    with served(tiny, aliases=(("openai", "gpt-4o"),), ledger=str(book)) as live:
        told = {model["id"]: model["cache"] for model in live.get("/v1/models").json()["data"]}
        assert told == {
            "tiny": {"contract": "engine", "minimum": 0, "unit": 1},
            "gpt-4o": {"contract": "openai_interval", "minimum": 1024, "unit": 128},
        }
        prompt = prompt_of(200, seed=17)
        for model, read in (("tiny", 0), ("tiny", 199), ("gpt-4o", 0)):
            assert account(live, prompt, stream=False, model=model) == (200, read)
        groups = live.get("/v1/usage?by=reason").json()["groups"]
    assert {group["name"] for group in groups} == {"never_seen", "capped", "below_minimum"}
