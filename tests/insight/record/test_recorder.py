"""What the recorder does when it can't record: nothing that anybody else would notice."""

import gzip
import json
import os
import resource
import signal
import threading
from pathlib import Path
from typing import Any

import httpx
import pytest

from headstart.insight.asked.source import read_requests
from headstart.insight.record import Recorder, RecordingTransport
from headstart.insight.record.exchange import HEAD, TAIL

BODY = {"model": "gpt-6-sol", "messages": [{"role": "user", "content": "Hi!"}]}
USAGE = {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10}
URL = "https://user:pw@api.example.com/v1/chat/completions?key=secret"


class Chunks(httpx.SyncByteStream):
    def __init__(self, *chunks: bytes) -> None:
        self._chunks = chunks

    def __iter__(self) -> Any:
        yield from self._chunks


class Answers(httpx.BaseTransport):
    """One answer to all."""

    def __init__(self, *chunks: bytes, **headers: str) -> None:
        self._chunks = chunks
        self._headers = {name.replace("_", "-"): value for name, value in headers.items()}

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers=self._headers, stream=Chunks(*self._chunks))


WHOLE = json.dumps({"id": "chatcmpl-1", "usage": USAGE}).encode()


def post(path: Any, inner: httpx.BaseTransport, url: str = URL, **options: Any) -> httpx.Response:
    with httpx.Client(transport=RecordingTransport(path, inner, **options)) as client:
        return client.post(url, content=json.dumps(BODY), headers={"authorization": "Bearer k"})


def test_no_secret_of_url_or_headers_is_written(tmp_path: Path) -> None:
    path = tmp_path / "log"
    assert post(path, Answers(WHOLE)).content == WHOLE
    text = path.read_text()
    for secret in ("secret", "user:pw", "Bearer"):
        assert secret not in text
    assert path.stat().st_mode & 0o077 == 0
    (asked,) = read_requests([str(path)])
    assert asked.account is not None
    assert (asked.id, asked.account.prompt) == ("chatcmpl-1", 9)


def test_a_body_over_several_lines_is_still_there_to_the_byte(tmp_path: Path) -> None:
    path = tmp_path / "log"
    pretty = json.dumps(BODY, indent=2).encode()
    with httpx.Client(transport=RecordingTransport(path, Answers(WHOLE))) as client:
        client.post(URL, content=pretty)
    (line,) = path.read_text().splitlines()
    assert json.loads(line)["body"].encode() == pretty
    (asked,) = read_requests([str(path)])
    assert asked.body == BODY


def test_usage_is_found_in_packed_and_in_very_long_answers(tmp_path: Path) -> None:
    packed = gzip.compress(WHOLE)
    post(tmp_path / "packed", Answers(packed, content_encoding="gzip"))
    (asked,) = read_requests([str(tmp_path / "packed")])
    assert asked.account is not None
    event = b'data: {"choices": [{"delta": {"content": "' + b"x" * 1000 + b'"}}]}\n\n'
    count = (HEAD + TAIL) // len(event) + 1000
    last = b"data: " + json.dumps({"usage": USAGE}).encode() + b"\n\ndata: [DONE]\n\n"
    answer = post(
        tmp_path / "long", Answers(*[event] * count, last, content_type="text/event-stream")
    )
    assert len(answer.content) == len(event) * count + len(last)
    (asked,) = read_requests([str(tmp_path / "long")])
    assert asked.account is not None
    assert asked.account.prompt == 9
    assert json.loads((tmp_path / "long").read_text())["cut"] is True


@pytest.mark.parametrize("place", ["gone/log", "", "/proc/nothing/log"])
def test_where_nothing_can_be_written_the_caller_hears_nothing(tmp_path: Path, place: str) -> None:
    recorder = Recorder(tmp_path / place)
    assert post(recorder, Answers(WHOLE)).status_code == 200
    assert (recorder.dropped, recorder.written) == (1, 0)


def test_a_full_disk_leaves_whole_lines_and_no_half_one(tmp_path: Path) -> None:
    """A limit on the file's size stands for the disk: a write is cut short, the next one fails."""
    path = tmp_path / "log"
    recorder = Recorder(path)
    post(recorder, Answers(WHOLE))
    size = path.stat().st_size
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 40, limits[1]))
    try:
        assert post(recorder, Answers(WHOLE)).status_code == 200
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert path.stat().st_size == size
    assert (recorder.written, recorder.dropped) == (1, 1)
    post(recorder, Answers(WHOLE))
    assert len(list(read_requests([str(path)]))) == 2


def test_memory_is_bounded_while_nothing_can_be_written_down(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "log", most_bytes=200)
    transport = RecordingTransport(recorder, Answers(WHOLE))
    held = []
    for _ in range(10):
        request = httpx.Request("POST", URL, content=json.dumps(BODY))
        held.append(transport.handle_request(request))  # Nobody reads them yet.
    assert 0 < recorder.dropped < 10
    for response in held:
        assert response.read() == WHOLE
    recorder.flush()
    assert recorder.written + recorder.dropped == 10
    recorder.close()


def test_what_is_no_request_of_a_model_is_passed_on_and_not_recorded(tmp_path: Path) -> None:
    path = tmp_path / "log"
    for url in (
        "https://x/v1/models",
        "https://x/v1/embeddings",
        "https://x/v1/messages/count_tokens",
    ):
        assert post(path, Answers(b"{}"), url).content == b"{}"
    with httpx.Client(transport=RecordingTransport(path, Answers(WHOLE))) as client:
        assert client.post(URL, content=iter([b"{}"])).content == WHOLE  # Made while it is sent.
        assert client.post(URL, content=b"no JSON").content == WHOLE
    assert not path.exists()


def test_answers_of_a_transport_that_mocks_are_recorded_too(tmp_path: Path) -> None:
    mock = httpx.MockTransport(lambda _: httpx.Response(200, json={"usage": USAGE}))
    assert post(tmp_path / "log", mock).json() == {"usage": USAGE}
    (asked,) = read_requests([str(tmp_path / "log")])
    assert asked.account is not None


def test_many_threads_write_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "log"
    transport = RecordingTransport(path, Answers(WHOLE[:5], WHOLE[5:]))
    with httpx.Client(transport=transport) as client:
        threads = [
            threading.Thread(target=lambda: [client.post(URL, json=BODY) for _ in range(20)])
            for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(list(read_requests([str(path)]))) == 160
    assert not [each for each in threading.enumerate() if each.name == "headstart-record"]


def test_a_fork_goes_on_recording(tmp_path: Path) -> None:
    path = tmp_path / "log"
    transport = RecordingTransport(path, Answers(WHOLE))
    client = httpx.Client(transport=transport)
    client.post(URL, json=BODY)
    transport.recorder.flush()
    child = os.fork()
    if not child:
        client.post(URL, json=BODY)
        os._exit(0 if transport.recorder.flush() else 1)
    assert os.waitpid(child, 0)[1] == 0
    client.close()
    assert len(list(read_requests([str(path)]))) == 2


def test_answers_and_what_stands_beside_are_written_when_asked_for(tmp_path: Path) -> None:
    post(tmp_path / "log", Answers(WHOLE), answers=True, beside={"session": "s1", "tenant": "t1"})
    (asked,) = read_requests([str(tmp_path / "log")])
    assert asked.response == {"id": "chatcmpl-1", "usage": USAGE}
    assert (asked.session, asked.tenant) == ("s1", "t1")
