"""Whether a template is of a prompt: most templates on the world's disks are not."""

import re
from pathlib import PurePath

ENDINGS = frozenset({".j2", ".jinja", ".jinja2", ".prompt"})
_TEXT = frozenset({"", ".txt", ".md", ".prompt", ".tmpl", ".tpl"})
_NAMED = re.compile(
    r"prompt|system|agent|chat|llm|instruct|assistant|persona|few.?shot|completion|rag\b",
    re.IGNORECASE,
)
_SAID = re.compile(
    r"\byou are (a|an|the)\b|\byour (task|role|job) is\b|<\|(im_start|start_header_id)\|>|\[INST\]"
    r"|<start_of_turn>|\bassistant\b|你是|请(根据|按照|用)|\bact as\b"
    r"|\banswer (the|in|with|only)\b",
    re.IGNORECASE,
)
_PAGE = re.compile(r"\s*(<!doctype|<html|<\?xml|#!|apiVersion:|FROM )", re.IGNORECASE)


def is_prompt(path: str, source: str) -> bool:
    """By its name and by what it says. `page.html.j2` is not one, whatever it says."""
    pure = PurePath(path)
    if pure.suffix == ".prompt":
        return True
    inner = PurePath(pure.stem).suffix
    other = inner not in _TEXT and not inner[1:].isdecimal()
    if other or _PAGE.match(source):
        return False
    return any(_NAMED.search(part) for part in pure.parts[-2:]) or bool(_SAID.search(source))
