"""Keys, tenants, and what each may see."""

from hashlib import sha256
from pathlib import Path
from typing import Any

import openai
import pytest

from headstart.dialects.errors import ApiError
from headstart.server.auth import ANYONE, Caller, KeysFileError, load_keyring
from headstart.settings import Settings

PROMPT = [3 + (17 * i) % 300 for i in range(80)]


def keys(tmp_path: Path, text: str) -> str:
    path = tmp_path / "keys"
    path.write_text(text)
    return str(path)


@pytest.fixture(scope="module")
def walled(start_real: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = keys(tmp_path_factory.mktemp("keys"), "# tenants\nka  alice\nkb bob\n\nka2 alice\n")
    return start_real(api_key="op", api_keys_file=path)


def test_without_keys_everybody_is_the_operator() -> None:
    ring = load_keyring(Settings())
    assert ring.authenticate(None) == ANYONE
    assert ring.operator("Bearer whatever") == ANYONE


def test_keys_have_labels_that_tell_them_apart_and_nothing_of_them(tmp_path: Path) -> None:
    ring = load_keyring(
        Settings(api_key="op", api_keys_file=keys(tmp_path, "ka alice\nkb alice\n"))
    )
    labels = [ring.authenticate(f"Bearer {key}").key for key in ("op", "ka", "kb")]
    assert len(set(labels)) == 3
    assert not any(
        sha256(key.encode()).hexdigest().startswith(label)
        for key, label in zip(("op", "ka", "kb"), labels, strict=True)
    )


def test_the_tenant_comes_from_the_key(tmp_path: Path) -> None:
    path = keys(tmp_path, "ka alice\nkb bob\n")
    ring = load_keyring(Settings(api_key="op", api_keys_file=path))
    assert ring.authenticate("Bearer ka") == Caller("alice", operator=False)
    assert ring.authenticate("bearer kb") == Caller("bob", operator=False)
    assert ring.operator("Bearer op") == Caller("", operator=True)


@pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer ", "Bearer nope", "Basic ka", "ka"])
def test_other_credentials_are_401(tmp_path: Path, header: str | None) -> None:
    ring = load_keyring(Settings(api_keys_file=keys(tmp_path, "ka alice")))
    with pytest.raises(ApiError) as caught:
        ring.authenticate(header)
    assert (caught.value.status, caught.value.code) == (401, "invalid_api_key")
    assert "nope" not in caught.value.message


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ka", "line 1"),
        ("ka alice\nkb bob extra", "line 2"),
        ("# nothing", "no key"),
        ("ka alice\nka bob", "twice"),
    ],
)
def test_a_keys_file_that_is_not_one_is_refused_by_its_line(
    tmp_path: Path, text: str, said: str
) -> None:
    with pytest.raises(KeysFileError, match=said):
        load_keyring(Settings(api_keys_file=keys(tmp_path, text)))


def test_a_missing_keys_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(KeysFileError, match="absent"):
        load_keyring(Settings(api_keys_file=str(tmp_path / "absent")))


def test_a_wrong_key_is_401_in_openais_shape(walled: Any) -> None:
    with pytest.raises(openai.AuthenticationError) as caught:
        walled.client("nope").models.list()
    assert caught.value.code == "invalid_api_key"
    assert caught.value.response.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/v1/chat/completions"),
        ("POST", "/v1/completions"),
        ("GET", "/v1/models"),
        ("GET", "/v1/models/tiny"),
        ("POST", "/tokenize"),
        ("POST", "/detokenize"),
        ("POST", "/cache/lookup"),
        ("GET", "/cache/explain/chatcmpl-1"),
        ("GET", "/cache/tree"),
        ("POST", "/cache/warm"),
        ("POST", "/cache/pin"),
        ("GET", "/cache/pin"),
        ("DELETE", "/cache/pin/1"),
        ("GET", "/cache"),
        ("POST", "/cache/reset"),
        ("GET", "/metrics"),
    ],
)
def test_every_endpoint_but_health_needs_a_key(walled: Any, method: str, path: str) -> None:
    with walled.http() as http:
        assert http.request(method, path).status_code == 401
        assert http.get("/health").status_code == 200


def used(live: Any, key: str) -> tuple[int, int | None]:
    usage = (
        live.client(key)
        .completions.create(model="tiny", prompt=PROMPT, max_tokens=1, temperature=0)
        .usage
    )
    assert usage is not None
    assert usage.prompt_tokens_details is not None
    return usage.prompt_tokens, usage.prompt_tokens_details.cached_tokens


def test_id_tenants_share_no_hit_and_see_no_difference(walled: Any) -> None:
    """ID: criterion 5. Bob's every number is what it would be without Alice."""

    def looked_up(key: str) -> Any:
        return walled.post("/cache/lookup", key, tokens=PROMPT).json()

    cold = {
        "prompt_tokens": 80,
        "cached_tokens": 0,
        "reason": "never_seen",
        "at": 0,
        "lost": None,
        "fields": [],
    }
    assert looked_up("ka") == looked_up("kb") == cold
    assert used(walled, "ka") == (80, 0)
    assert looked_up("kb") == cold
    assert used(walled, "kb") == (80, 0)
    assert used(walled, "ka2") == (80, 79)
    assert looked_up("kb")["cached_tokens"] == 79
    assert looked_up("op") == cold


def test_a_tenant_named_in_the_body_is_ignored(walled: Any) -> None:
    ids = PROMPT[::-1]
    first = walled.client("ka").completions.create(model="tiny", prompt=ids, max_tokens=1)
    second = walled.client("kb").completions.create(
        model="tiny", prompt=ids, max_tokens=1, user="alice", extra_body={"tenant": "alice"}
    )
    assert first.usage.prompt_tokens_details.cached_tokens == 0
    assert second.usage.prompt_tokens_details.cached_tokens == 0


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/cache"), ("POST", "/cache/reset"), ("GET", "/metrics")]
)
def test_what_all_tenants_share_is_the_operators(walled: Any, method: str, path: str) -> None:
    with walled.http() as http:
        for key, status in (("ka", 403), ("op", 200)):
            response = http.request(method, path, headers={"authorization": f"Bearer {key}"})
            assert response.status_code == status
            if status == 403:
                assert response.json()["error"]["code"] == "insufficient_permissions"
