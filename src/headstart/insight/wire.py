"""What an OpenAI-compatible server says in a stream, read leniently: rivals leave fields out."""

import msgspec

DONE = b"[DONE]"


class PromptDetails(msgspec.Struct):
    """`usage.prompt_tokens_details`."""

    cached_tokens: int | None = None
    cache_write_tokens: int | None = None


class Usage(msgspec.Struct):
    """Token counts as reported. `prompt_cache_hit_tokens` is DeepSeek's name for cached tokens."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: PromptDetails | None = None
    prompt_cache_hit_tokens: int | None = None

    @property
    def cached_tokens(self) -> int | None:
        """Prompt tokens served from the cache; None when the endpoint does not say."""
        details = self.prompt_tokens_details
        if details is not None and details.cached_tokens is not None:
            return details.cached_tokens
        return self.prompt_cache_hit_tokens

    @property
    def written_tokens(self) -> int | None:
        """Prompt tokens that are billed as written to the cache; None where nobody says."""
        details = self.prompt_tokens_details
        return None if details is None else details.cache_write_tokens


class Delta(msgspec.Struct):
    """The new part of a chat message."""

    content: str | None = None


class Choice(msgspec.Struct):
    """One choice of a chunk: `text` from /completions, `delta` from /chat/completions."""

    text: str | None = None
    delta: Delta | None = None
    finish_reason: str | None = None

    @property
    def new_text(self) -> str:
        """The text this chunk adds; often empty in first and last chunks."""
        return self.text or (self.delta.content if self.delta else None) or ""


class Chunk(msgspec.Struct):
    """One `data:` payload."""

    choices: list[Choice] = []
    usage: Usage | None = None
    error: msgspec.Raw = msgspec.Raw(b"null")

    @property
    def text(self) -> str:
        """New text of all choices (the tools here ask for one)."""
        return "".join(choice.new_text for choice in self.choices)

    @property
    def shows_token(self) -> bool:
        """True if a token has surely been generated: there is text, or the choice has ended.

        A chat stream's first chunk carries only the role and proves nothing.
        """
        return any(choice.new_text or choice.finish_reason for choice in self.choices)


class _Error(msgspec.Struct):
    message: str


class _ErrorBody(msgspec.Struct):
    error: _Error | str


class _Model(msgspec.Struct):
    id: str


class _Models(msgspec.Struct):
    data: list[_Model]


class EndpointError(Exception):
    """The endpoint could not be reached, refused or broke off. `str()` is meant for the user.

    `status` is the HTTP status of a refusal, None for everything else.
    """

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


def parse_chunk(payload: bytes) -> Chunk:
    """Read one payload. Raises EndpointError if it is an error event or not a chunk at all."""
    try:
        chunk = msgspec.json.decode(payload, type=Chunk)
    except msgspec.MsgspecError as error:
        shown = payload[:200].decode(errors="replace")
        raise EndpointError(f"unreadable stream chunk ({error}): {shown}") from error
    if bytes(chunk.error) != b"null":
        raise EndpointError(f"the stream ended in an error: {error_message(payload)}")
    return chunk


def error_message(body: bytes) -> str:
    """The message in an error body: OpenAI's envelope, or else the start of whatever was sent."""
    try:
        error = msgspec.json.decode(body, type=_ErrorBody).error
    except msgspec.MsgspecError:
        return body[:300].decode(errors="replace").strip() or "(empty body)"
    return error if isinstance(error, str) else error.message


def first_model(body: bytes) -> str:
    """The first id in a `/models` answer. Raises EndpointError if there is none."""
    try:
        models = msgspec.json.decode(body, type=_Models).data
    except msgspec.MsgspecError as error:
        raise EndpointError(f"/models did not answer with a list of models: {error}") from error
    if not models:
        raise EndpointError("/models lists no model; name one with --model")
    return models[0].id
