"""`cachedContents` bodies, and times as proto-JSON spells them."""

import json
from typing import Any

import pytest
from google.genai import types

from headstart.contracts.cached_contents import CachedContent
from headstart.dialects.errors import ApiError
from headstart.dialects.gemini.cached import (
    End,
    parse_create,
    parse_patch,
    resource,
    resource_list,
)
from headstart.dialects.gemini.count import counted
from headstart.dialects.gemini.models import model, model_list
from headstart.dialects.gemini.times import moment, read_duration, read_moment

DOC = {"model": "models/m", "contents": [{"parts": [{"text": "Doc"}]}]}
NOON = 1796040000.0  # 2026-11-30T12:00:00Z


def body(**fields: Any) -> bytes:
    return json.dumps(fields).encode()


@pytest.mark.parametrize(
    ("fields", "end"),
    [
        ({}, End(None, None)),
        ({"ttl": "300s"}, End(300.0, None)),
        ({"ttl": "0.5s"}, End(0.5, None)),
        ({"expireTime": "2026-11-30T12:00:00Z"}, End(None, NOON)),
        ({"expire_time": "2026-11-30T13:00:00.000000000+01:00"}, End(None, NOON)),
        ({"ttl": "1s", "expireTime": "2026-11-30T12:00:00Z"}, End(1.0, NOON)),
    ],
)
def test_an_end_is_told_as_a_duration_or_a_moment(fields: dict[str, Any], end: End) -> None:
    assert parse_create(body(**DOC, **fields)).end == end
    assert parse_patch(body(**fields)) == end


@pytest.mark.parametrize("ttl", ["300", "5m", "s", "1e3s", "1.s", "99999999999s", "-"])
def test_other_durations_are_refused(ttl: str) -> None:
    with pytest.raises(ApiError, match=r"'cached_content\.ttl'"):
        parse_patch(body(ttl=ttl))


@pytest.mark.parametrize("at", ["tomorrow", "2026-11-30", "2026-11-30T12:00:00", ""])
def test_other_moments_are_refused(at: str) -> None:
    with pytest.raises(ApiError, match=r"'cached_content\.expire_time'"):
        parse_patch(body(expireTime=at))


def test_the_models_name_loses_its_collection() -> None:
    created = parse_create(body(**DOC, displayName="d"))
    assert (created.model, created.display_name) == ("m", "d")
    assert parse_create(body(**{**DOC, "model": "m"})).model == "m"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"contents": DOC["contents"]}, "model is not specified"),
        ({"model": "models/m"}, "nothing to cache"),
        ({**DOC, "x": 1}, "Unknown name \"x\" at 'cached_content': Cannot find field."),
    ],
)
def test_a_resource_needs_a_model_and_something_to_cache(fields: Any, said: str) -> None:
    with pytest.raises(ApiError, match=said):
        parse_create(body(**fields))


def test_a_name_in_a_patch_is_refused_in_googles_words() -> None:
    with pytest.raises(ApiError) as caught:
        parse_patch(body(name="cachedContents/a", ttl="1s"))
    assert caught.value.message == (
        "Invalid value at 'cached_content' (oneof), oneof field '_name' is already set. "
        "Cannot set 'name'"
    )


@pytest.mark.parametrize("field", ["displayName", "model"])
def test_nothing_but_the_end_can_be_patched(field: str) -> None:
    with pytest.raises(ApiError, match=f"not {field}"):
        parse_patch(body(**{field: "a"}))


def test_a_resource_tells_its_times_and_size_and_nothing_of_what_it_holds() -> None:
    content = CachedContent(
        "cachedContents/a", "t", "models/m", 7, "secret", NOON, NOON + 1, NOON + 2.5, "d"
    )
    told = resource(content)
    assert told == {
        "name": "cachedContents/a",
        "model": "models/m",
        "displayName": "d",
        "createTime": "2026-11-30T12:00:00.000000Z",
        "updateTime": "2026-11-30T12:00:01.000000Z",
        "expireTime": "2026-11-30T12:00:02.500000Z",
        "usageMetadata": {"totalTokenCount": 7},
    }
    read = types.CachedContent.model_validate(told)
    assert read.expire_time is not None
    assert read.expire_time.timestamp() == NOON + 2.5
    assert resource_list([content], "1") == {"cachedContents": [told], "nextPageToken": "1"}
    assert resource_list([], None) == {}


def test_moments_come_back() -> None:
    assert read_moment(moment(NOON + 0.25), "p") == NOON + 0.25
    assert read_duration("3600s", "p") == 3600.0


def test_counts_name_the_cache_only_if_there_is_one() -> None:
    assert counted(9, 0) == {
        "totalTokens": 9,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 9}],
    }
    assert counted(9, 4)["cachedContentTokenCount"] == 4


def test_models_come_in_pages() -> None:
    models = [model(name, 100) for name in "abc"]
    assert [each["name"] for each in model_list(models, "", "")["models"]] == [
        "models/a",
        "models/b",
        "models/c",
    ]
    first = model_list(models, "2", "")
    second = model_list(models, "2", first["nextPageToken"])
    assert first["models"] + second["models"] == models
    assert "nextPageToken" not in second


@pytest.mark.parametrize(("size", "token"), [("-1", ""), ("x", ""), ("", "x")])
def test_pages_that_make_no_sense_are_refused(size: str, token: str) -> None:
    with pytest.raises(ApiError, match="page_"):
        model_list([], size, token)
