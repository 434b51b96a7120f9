"""What an endpoint is told to be, by its answers alone."""

from collections.abc import Callable

import httpx
import pytest

from headstart.insight.probe import meet
from headstart.insight.probe.recognise import model_names, recognise
from headstart.insight.probe.wires import WIRES
from headstart.insight.wire import EndpointError

OPENAI = b'{"object":"list","data":[{"id":"local","object":"model"}]}'
ANTHROPIC = b'{"data":[{"type":"model","id":"claude-x","display_name":"X"}],"has_more":false}'
GEMINI = b'{"models":[{"name":"models/gemini-x","version":"001"}]}'


@pytest.mark.parametrize(
    ("body", "dialect"),
    [
        (OPENAI, "openai-chat"),
        (ANTHROPIC, "anthropic"),
        (GEMINI, "gemini"),
        (b'{"error":{"message":"no key","type":"invalid_request_error"}}', "openai-chat"),
        (b'{"error":"Unauthorized"}', "openai-chat"),
        (b'{"type":"error","error":{"type":"authentication_error","message":"x"}}', "anthropic"),
        (b'{"error":{"code":403,"message":"x","status":"PERMISSION_DENIED"}}', "gemini"),
        (b'{"detail":"Not Found"}', None),
        (b"<html>hello</html>", None),
        (b"[1]", None),
        (b"", None),
    ],
)
def test_lists_of_models_and_refusals_tell_the_dialect(body: bytes, dialect: str | None) -> None:
    assert recognise(body) == dialect


@pytest.mark.parametrize(
    ("body", "names"),
    [
        (OPENAI, ["local"]),
        (ANTHROPIC, ["claude-x"]),
        (GEMINI, ["gemini-x"]),
        (b'{"data":[7]}', []),
        (b"x", []),
    ],
)
def test_models_are_listed_in_every_dialect(body: bytes, names: list[str]) -> None:
    assert model_names(body) == names


def client(answer: Callable[[httpx.Request], httpx.Response]) -> httpx.Client:
    return httpx.Client(transport=httpx.MockTransport(answer))


def test_no_key_is_sent_before_the_dialect_is_known() -> None:
    asked = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        found = request.url.path == "/v1beta/models"
        return httpx.Response(200 if found else 404, content=GEMINI if found else b"nothing here")

    assert meet.find_dialect(client(answer), "http://h") == "gemini"
    assert [request.url.path for request in asked] == ["/v1/models", "/v1/models", "/v1beta/models"]
    secret = {"authorization", "x-api-key", "x-goog-api-key"}
    assert not any(secret & set(request.headers) for request in asked)


def test_a_foreign_endpoint_is_named_with_what_it_answered() -> None:
    foreign = client(lambda _: httpx.Response(404, text="<html>"))
    with pytest.raises(EndpointError, match=r"v1/models 404.*--dialect"):
        meet.find_dialect(foreign, "http://h")


def test_the_only_model_is_taken_and_of_several_one_has_to_be_named() -> None:
    wire = WIRES["openai-chat"]
    alone = client(lambda _: httpx.Response(200, content=OPENAI))
    assert meet.only_model(alone, wire, "http://h", None) == "local"
    two = client(lambda _: httpx.Response(200, content=b'{"data":[{"id":"a"},{"id":"b"}]}'))
    with pytest.raises(EndpointError, match="--model: a, b"):
        meet.only_model(two, wire, "http://h", None)


@pytest.mark.parametrize(
    ("dialect", "given", "environ", "key"),
    [
        ("openai-chat", "mine", {"OPENAI_API_KEY": "o"}, "mine"),
        ("openai-chat", None, {"OPENAI_API_KEY": "o", "ANTHROPIC_API_KEY": "a"}, "o"),
        ("deepseek", None, {"OPENAI_API_KEY": "o", "DEEPSEEK_API_KEY": "d"}, "d"),
        ("anthropic", None, {"ANTHROPIC_AUTH_TOKEN": "t"}, "t"),
        ("gemini", None, {"GEMINI_API_KEY": "g", "GOOGLE_API_KEY": "w"}, "w"),
        ("gemini", None, {"OPENAI_API_KEY": "o"}, None),
    ],
)
def test_the_key_is_the_given_one_or_that_vendors_own_and_never_anothers(
    dialect: str, given: str | None, environ: dict[str, str], key: str | None
) -> None:
    assert meet.key_of(WIRES[dialect], given, environ) == key


@pytest.mark.parametrize("url", ["127.0.0.1:8000", "ftp://h", "http://", "nonsense"])
def test_what_is_no_url_is_refused_at_once(url: str) -> None:
    with pytest.raises(EndpointError, match="is no URL"):
        meet.check_url(url)
