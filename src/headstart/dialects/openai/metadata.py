"""What clients attach to things that are kept, to find them again."""

from typing import Annotated

from msgspec import Meta

Metadata = Annotated[
    dict[Annotated[str, Meta(max_length=64)], Annotated[str, Meta(max_length=512)]],
    Meta(max_length=16),
]
