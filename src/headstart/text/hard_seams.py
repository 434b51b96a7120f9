"""Which added tokens may begin the tail of a text.

The library takes added tokens that are looked for in the raw text out first, the leftmost and then
the longest at a time, and handles every stretch between them alone (normaliser, pre-tokenizer,
model). So a tail that begins with such a token is encoded as it is inside the whole text, whatever
stands before it; even `Metaspace`, which looks at whether a stretch begins the text, sees one that
doesn't. For this to hold everywhere the token

- overlaps with no other one and is part of none, so that it is found wherever it is written;
- doesn't ask for a word border, nor gives one to the next token that asks;
- begins with no white space, which a token before it might swallow (`rstrip`).
"""

from collections.abc import Mapping

from tokenizers import AddedToken


def hard_tokens(added: Mapping[int, AddedToken]) -> dict[str, int]:
    """Text to id of the added tokens whose every occurrence in a text is a seam."""
    contents = [token.content for token in added.values() if token.content]
    heads = {content[:cut] for content in contents for cut in range(1, len(content))}
    tails = {content[cut:] for content in contents for cut in range(1, len(content))}
    everything = "\0".join(contents)
    border_matters = any(token.single_word for token in added.values())
    hard = {}
    for id_, token in added.items():
        text = token.content
        if not text or token.normalized or token.single_word or text[0].isspace():
            continue
        if border_matters and (text[-1].isalnum() or text[-1] == "_"):
            continue
        if everything.count(text) > 1:
            continue
        if any(text[cut:] in heads or text[:cut] in tails for cut in range(1, len(text))):
            continue
        hard[text] = id_
    return hard
