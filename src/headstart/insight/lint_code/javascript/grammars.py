"""tree-sitter's grammars."""

from functools import cache

import tree_sitter_javascript
import tree_sitter_typescript
from tree_sitter import Language, Parser

GRAMMARS = {
    "ts": tree_sitter_typescript.language_typescript,
    "mts": tree_sitter_typescript.language_typescript,
    "cts": tree_sitter_typescript.language_typescript,
    "tsx": tree_sitter_typescript.language_tsx,
    "js": tree_sitter_javascript.language,
    "mjs": tree_sitter_javascript.language,
    "cjs": tree_sitter_javascript.language,
    "jsx": tree_sitter_javascript.language,
}
"""By the ending of the file."""


@cache
def parser(ending: str) -> Parser:
    """For files that end so."""
    return Parser(Language(GRAMMARS[ending]()))
