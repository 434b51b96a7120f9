"""Words that tell a model what to do or not to do, in English and Chinese."""

import re

_INSTRUCTIONS = re.compile(
    r"\b(?:must(?:n't)?|never|always|only|do(?:n't|n’t| not)|can(?:not|'t)|may not|should(?:n't)?"
    r"|shall|refus(?:e|ed|al)|declin(?:e|ed)|requir(?:e|es|ed)|forbid(?:den|s)?|prohibit(?:ed|s)?"
    r"|allowed|ensure|make sure|avoid|ignore|disregard|follow|obey|comply|confidential|secret"
    r"|reveal|disclose|unless|instead|please|use|keep|answer|respond|reply|act as|safety|unsafe"
    r"|(?:you|your) (?:are|role|task|job|work)(?! in session\b| at \b))\b"
    r"|必须|不得|禁止|不要|不能|不可|不许|不准|应当|应该|应|(?<!申)请(?!求|假)|只能|仅|务必|一定|总是|永远|从不|切勿"
    r"|严禁|拒绝|避免|确保|忽略|遵守|保密|泄露|安全|需要|你是|您是",
    re.IGNORECASE,
)


def instructs(text: str) -> bool:
    """Whether it may say what to do. In doubt it does: then it stays where it is."""
    return bool(_INSTRUCTIONS.search(text))
