"""OpenAI's Responses: tools, then items. Instructions are a message, for the sake of markers."""

from headstart.insight.layout.bodies.openai import conversation, marks, of, part, wishes
from headstart.insight.layout.edges import profile_of
from headstart.insight.layout.material import Material
from headstart.insight.layout.stages import Body


def body(material: Material, model: str, lifetime: str | None) -> Body:
    """Raises ValueError for a lifetime that the vendor doesn't sell."""
    marked = marks(material, profile_of("openai", model), lifetime)
    items: list[Body] = []
    if material.stable:
        parts = [
            part("input_text", text, marked=index in marked.texts, lifetime=of(segment, lifetime))
            for index, (segment, text) in enumerate(material.stable)
        ]
        items.append({"role": "developer", "content": parts})
    items += conversation(material, marked, {"user": "input_text", "assistant": "output_text"})
    said: Body = {"model": model}
    if material.tools:
        said["tools"] = [{"type": "function", **tool} for tool in material.tools]
    typed = [{"type": "message", **item} for item in items]
    return {**said, "input": typed, **wishes(material, marked, "openai")}
