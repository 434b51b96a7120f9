"""The operator's file of prefixes that all tenants share.

JSON Lines. Each line is one prefix in a form of `POST /tokenize` or `/cache/lookup`: `messages`
(with `tools`), `prompt`, or `tokens`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from headstart.dialects.errors import ApiError
from headstart.dialects.openai.prompt_request import PromptRequest, parse_prompt
from headstart.text.chat import Conversation
from headstart.text.codec import Codec
from headstart.text.errors import TextError
from headstart.text.stable_prefix import stable_messages, stable_text


class SharedPrefixesError(Exception):
    """The file of shared prefixes can't be used. `str()` names the line at fault."""


@dataclass(frozen=True, slots=True)
class Declared:
    """One line of the file."""

    where: str
    """File and line, for messages."""
    prompt: PromptRequest


def read_shared(file: str | None) -> list[Declared]:
    """What the operator declares; nothing without a file. Raises SharedPrefixesError."""
    if file is None:
        return []
    try:
        lines = Path(file).read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SharedPrefixesError(f"Can't read the shared prefixes {file}: {error}.") from error
    found = list(_parsed(file, lines))
    if not found:
        raise SharedPrefixesError(f"{file} declares no prefix: add one JSON object a line.")
    return found


def _parsed(file: str, lines: Sequence[str]) -> Iterator[Declared]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        where = f"{file}, line {number}"
        try:
            prompt = parse_prompt(line.encode(), allow_tokens=True)
        except ApiError as error:
            raise SharedPrefixesError(f"{where}: {error}") from error
        for name, value in (("model", prompt.model), ("cache_salt", prompt.cache_salt)):
            if value is not None:
                raise SharedPrefixesError(
                    f"{where}: '{name}' has no place here: a prefix holds for every model, and "
                    "requests with a salt share nothing."
                )
        yield Declared(where, prompt)


def tokenised(declared: Sequence[Declared], codec: Codec, block_size: int) -> list[Sequence[int]]:
    """The token ids of each. Raises SharedPrefixesError, also where not one block is shared."""
    return [_tokens(each, codec, block_size) for each in declared]


def _tokens(declared: Declared, codec: Codec, block_size: int) -> Sequence[int]:
    asked = declared.prompt
    try:
        match asked.prompt:
            case Conversation():
                ids = stable_messages(codec, asked.prompt)
            case str():
                ids = stable_text(codec, asked.prompt, special_tokens=asked.special_tokens)
            case _:
                ids = asked.prompt
    except TextError as error:
        raise SharedPrefixesError(f"{declared.where}: {error}") from error
    if any(id_ >= codec.vocab_size for id_ in ids):
        raise SharedPrefixesError(
            f"{declared.where}: {max(ids)} is no token id of this model (0 to "
            f"{codec.vocab_size - 1})."
        )
    if len(ids) < block_size:
        raise SharedPrefixesError(
            f"{declared.where}: only the first {len(ids)} tokens are the same in every prompt that "
            f"begins so, and whole blocks of {block_size} are shared: lengthen it or lower "
            "--block-size."
        )
    return ids
