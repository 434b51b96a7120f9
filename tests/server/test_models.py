"""Models by name: the base model and its adapters."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import openai
import pytest

PROMPT = [3 + (19 * i) % 300 for i in range(64)]


@pytest.fixture(scope="module")
def adapted(
    start_real: Any,
    tiny_checkpoint: Callable[..., Path],
    tiny_adapter: Callable[..., Path],
) -> Any:
    adapter = tiny_adapter(tiny_checkpoint("llama"), seed=1)
    return start_real(loras=(("sql", str(adapter)),))


def answer(live: Any, model: str) -> tuple[str, int]:
    response = live.client().completions.create(
        model=model,
        prompt=PROMPT,
        max_tokens=8,
        temperature=0,
        extra_body={"ignore_eos": True},
    )
    return response.choices[0].text, response.usage.prompt_tokens_details.cached_tokens


def test_models_lists_the_base_model_first_and_adapters_with_their_parent(adapted: Any) -> None:
    base, adapter = adapted.client().models.list()
    assert (base.id, adapter.id) == ("tiny", "sql")
    assert adapter.model_extra["parent"] == "tiny"
    assert adapted.client().models.retrieve("sql") == adapter


def test_the_model_name_chooses_the_adapter_and_its_kv(adapted: Any) -> None:
    base, cold = answer(adapted, "tiny")
    with_adapter, adapter_cold = answer(adapted, "sql")
    assert (cold, adapter_cold) == (0, 0)
    assert with_adapter != base
    assert answer(adapted, "sql") == (with_adapter, 63)
    assert answer(adapted, "tiny") == (base, 63)


def test_a_lookup_asks_for_one_models_kv(adapted: Any) -> None:
    ids = PROMPT[::-1]
    adapted.client().completions.create(model="sql", prompt=ids, max_tokens=1)
    with adapted.http() as http:
        found = {
            model: http.post("/cache/lookup", json={"model": model, "tokens": ids}).json()
            for model in ("tiny", "sql")
        }
    assert found["tiny"]["cached_tokens"] == 0
    assert found["sql"]["cached_tokens"] == 63


def test_an_unknown_model_is_told_every_name_there_is(adapted: Any) -> None:
    with pytest.raises(openai.NotFoundError, match=r"'tiny', 'sql'"):
        adapted.client().completions.create(model="nosql", prompt="a")
