"""Server-sent events, as far as completion APIs use them: bytes in, the payloads of `data:` out."""


class SSEDecoder:
    """Incremental decoder: feed it what the socket gave, however it was cut.

    Rules of https://html.spec.whatwg.org/multipage/server-sent-events.html that matter here: lines
    end in LF, CRLF or CR, a blank line ends an event, several data lines are joined by LF, one
    space after the colon is dropped, comments (keep-alives) and other fields are ignored.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []

    def feed(self, received: bytes) -> list[bytes]:
        """The payloads completed by these bytes, in order."""
        buffer = self._rest + received
        # A CR at the end may be half of a CRLF: it waits for the next bytes.
        held = b"\r" if buffer.endswith(b"\r") else b""
        body = buffer.removesuffix(held) if held else buffer
        *lines, tail = body.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._rest = tail + held
        payloads = []
        for line in lines:
            payload = self._line(line)
            if payload is not None:
                payloads.append(payload)
        return payloads

    def _line(self, line: bytes) -> bytes | None:
        if not line:
            data, self._data = self._data, []
            return b"\n".join(data) if data else None
        field, _, value = line.partition(b":")
        if field == b"data":
            self._data.append(value.removeprefix(b" "))
        return None
