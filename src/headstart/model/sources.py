"""Where tensors are read from: a checkpoint's files seen as names and tensors."""

from collections.abc import Set
from typing import Protocol

from torch import Tensor


class TensorSource(Protocol):
    """A checkpoint's tensors in Hugging Face's names and row order, on the CPU, in any float dtype.

    What `read` returns may be a view of a mapped file: copy it before the source is closed.
    """

    def names(self) -> Set[str]:
        """The tensors there are."""
        ...

    def read(self, name: str) -> Tensor:
        """One of `names()`. Raises ModelError when the file can't give it."""
        ...
