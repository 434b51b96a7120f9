"""Typed access to a GGUF file's metadata, with errors that name the key."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from headstart.text.errors import TokenizerError

if TYPE_CHECKING:
    from gguf import GGUFReader

T = TypeVar("T", str, int, bool, list[Any])


class GgufMetadata:
    """The key-value part of a GGUF file."""

    def __init__(self, source: "Path | GGUFReader | Mapping[str, Any]") -> None:
        """Take the metadata itself, or read it. Raises TokenizerError if it is no GGUF file.

        Where the metadata is at hand, hand it over: the `gguf` package needs seconds for a file.
        """
        if isinstance(source, Path):
            source = _open(source)
        self._values: Mapping[str, Any] = (
            source if isinstance(source, Mapping) else dict(_tokenizer_fields(source))
        )

    def text(self, key: str) -> str | None:
        """A string, None where the key is absent."""
        return self._get(key, str)

    def number(self, key: str) -> int | None:
        """A whole number, None where the key is absent."""
        return self._get(key, int)

    def flag(self, key: str) -> bool | None:
        """A boolean, None where the key is absent."""
        return self._get(key, bool)

    def array(self, key: str) -> list[Any]:
        """A list. Raises TokenizerError where the key is absent."""
        value = self.optional_array(key)
        if value is None:
            raise TokenizerError(f"the GGUF file has no {key}: it carries no usable tokenizer")
        return value

    def optional_array(self, key: str) -> list[Any] | None:
        """A list, None where the key is absent."""
        return self._get(key, list)

    def keys(self, prefix: str) -> list[str]:
        """All keys that begin with `prefix`, in file order."""
        return [key for key in self._values if key.startswith(prefix)]

    def _get(self, key: str, kind: type[T]) -> T | None:
        value = self._values.get(key)
        if value is None:
            return None
        if type(value) is not kind:  # a bool is an int to isinstance
            raise TokenizerError(f"the GGUF file's {key} is no {kind.__name__}: {value!r:.80}")
        return value


def _open(path: Path) -> "GGUFReader":
    from gguf import GGUFReader

    try:
        return GGUFReader(path)
    except FileNotFoundError as error:
        raise TokenizerError(f"{path} does not exist") from error
    # numpy, enum and the reader itself each report a cut or foreign file in their own way.
    except Exception as error:
        raise TokenizerError(
            f"{path} is not a whole GGUF file ({error}): fetch it again, or check the path"
        ) from error


def _tokenizer_fields(reader: "GGUFReader") -> Iterator[tuple[str, Any]]:
    for key, field in reader.fields.items():
        if key.startswith("tokenizer."):
            try:
                yield key, field.contents()
            except UnicodeDecodeError as error:
                raise TokenizerError(f"the GGUF file's {key} is not UTF-8: {error}") from error
