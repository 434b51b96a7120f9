import pytest

from headstart.insight.wire import EndpointError, error_message, first_model, parse_chunk


@pytest.mark.parametrize(
    ("usage", "cached"),
    [
        (b'{"prompt_tokens":9,"prompt_tokens_details":{"cached_tokens":4}}', 4),
        (b'{"prompt_tokens":9,"prompt_tokens_details":{"cached_tokens":0}}', 0),
        (b'{"prompt_tokens":9,"prompt_tokens_details":null}', None),
        (b'{"prompt_tokens":9,"prompt_cache_hit_tokens":5,"prompt_cache_miss_tokens":4}', 5),
        (b'{"prompt_tokens":9}', None),
    ],
)
def test_unreported_cached_tokens_are_unknown_and_not_zero(
    usage: bytes, cached: int | None
) -> None:
    chunk = parse_chunk(b'{"choices":[],"usage":' + usage + b"}")
    assert chunk.usage is not None
    assert chunk.usage.cached_tokens == cached


@pytest.mark.parametrize(
    ("choice", "shows"),
    [
        (b'{"index":0,"text":"a","finish_reason":null}', True),
        (b'{"index":0,"text":"","finish_reason":null}', False),
        (b'{"index":0,"text":"","finish_reason":"length"}', True),
        (b'{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}', False),
        (b'{"index":0,"delta":{"content":"a"},"finish_reason":null}', True),
        (b'{"index":0,"delta":{},"finish_reason":"stop"}', True),
    ],
)
def test_a_role_or_an_empty_text_is_not_taken_for_a_token(choice: bytes, shows: bool) -> None:
    assert parse_chunk(b'{"choices":[' + choice + b'],"usage":null}').shows_token is shows


def test_an_error_inside_the_stream_is_raised_with_its_message() -> None:
    with pytest.raises(EndpointError, match="out of blocks"):
        parse_chunk(b'{"error":{"message":"out of blocks","type":"server_error"}}')


def test_a_chunk_that_is_no_json_is_shown_in_the_error() -> None:
    with pytest.raises(EndpointError, match="<html>"):
        parse_chunk(b"<html>bad gateway</html>")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"error":{"message":"no such model","code":null}}', "no such model"),
        (b'{"error":"plain"}', "plain"),
        (b"Bad Gateway", "Bad Gateway"),
        (b"", "(empty body)"),
    ],
)
def test_every_shape_of_error_body_yields_its_message(body: bytes, message: str) -> None:
    assert error_message(body) == message


def test_a_server_without_models_is_answered_with_the_way_out() -> None:
    with pytest.raises(EndpointError, match="--model"):
        first_model(b'{"object":"list","data":[]}')
