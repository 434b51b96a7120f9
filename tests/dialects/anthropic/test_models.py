"""Pages of the list of models."""

from typing import Any

import pytest
from anthropic.types import ModelInfo
from pydantic import TypeAdapter

from headstart.dialects.anthropic.models import model, page
from headstart.dialects.errors import ApiError

MODELS = [model(name, 0, 1024) for name in "abcde"]


def test_a_model_is_as_the_sdk_knows_it() -> None:
    told = TypeAdapter(ModelInfo).validate_python(model("a", 1_780_000_000, 1024))
    assert told.created_at.timestamp() == 1_780_000_000
    assert told.max_input_tokens == 1024


@pytest.mark.parametrize(
    ("query", "ids", "more"),
    [
        ({}, "abcde", False),
        ({"limit": "2"}, "ab", True),
        ({"limit": "2", "after_id": "b"}, "cd", True),
        ({"limit": "2", "after_id": "c"}, "de", False),
        ({"after_id": "e"}, "", False),
        ({"limit": "2", "before_id": "d"}, "bc", True),
        ({"limit": "2", "before_id": "c"}, "ab", False),
        ({"before_id": "a"}, "", False),
    ],
)
def test_pages(query: dict[str, str], ids: str, more: bool) -> None:
    told = page(MODELS, query)
    assert [each["id"] for each in told["data"]] == list(ids)
    assert told["has_more"] is more
    assert (told["first_id"], told["last_id"]) == ((ids[0], ids[-1]) if ids else (None, None))


def test_only_models_in_the_wanted_stages_are_listed() -> None:
    assert len(page(MODELS, {}, ["active", "retired"])["data"]) == 5
    assert page(MODELS, {}, ["retired"])["data"] == []


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"limit": "0"}, "limit: Input should be greater than or equal to 1"),
        ({"limit": "1001"}, "limit: Input should be less than or equal to 1000"),
        ({"limit": "many"}, "limit: Input should be a valid integer"),
        ({"after_id": "z"}, "after_id: There is no model 'z'"),
    ],
)
def test_what_is_no_page_is_refused(query: dict[str, Any], message: str) -> None:
    with pytest.raises(ApiError) as caught:
        page(MODELS, query)
    assert caught.value.message == message
