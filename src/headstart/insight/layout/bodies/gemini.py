"""Gemini's generateContent: instructions, tools, contents. It has no markers."""

from headstart.insight.layout.material import Material
from headstart.insight.layout.stages import Body

ROLES = {"user": "user", "assistant": "model"}


def body(material: Material) -> Body:
    """What stands in `systemInstruction`, `tools` and `contents`."""
    said: Body = {}
    if material.stable:
        said["systemInstruction"] = {"parts": [{"text": text} for _, text in material.stable]}
    if material.tools:
        said["tools"] = [{"functionDeclarations": [dict(tool) for tool in material.tools]}]
    contents: list[Body] = [
        {"role": ROLES[turn.role], "parts": [{"text": turn.text}]} for turn in material.turns
    ]
    if material.asked:
        parts = [{"text": text} for text in material.asked]
        if contents and contents[-1]["role"] == "user":
            contents[-1]["parts"] += parts
        else:
            contents.append({"role": "user", "parts": parts})
    said["contents"] = contents
    return said
