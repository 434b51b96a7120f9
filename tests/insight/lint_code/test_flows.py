import pytest

from headstart.insight.lint_code.lint import Source, lint

HEAD = """import json
import os
import random
import uuid
from datetime import date, datetime

from openai import OpenAI

c = OpenAI()

"""
FLOWS = {
    "a date is formatted within text": (
        "HSC101",
        """
def f(q):
    c.responses.create(instructions=f"d {datetime.now():%Y-%m-%d}", input=q)
""",
    ),
    "a file's text is read": (
        "",
        """
def f(q):
    with open("x") as fh:
        sys = fh.read()
    return c.responses.create(instructions=sys, input=q)
""",
    ),
    "a set is given": (
        "HSC112",
        """
def f(q, names: set[str]):
    return c.responses.create(instructions=str(names), input=q)
""",
    ),
    "a list is shuffled in place": (
        "HSC103",
        """
def f(q):
    xs = [3, 1]
    random.shuffle(xs)
    return c.responses.create(instructions=str(xs), input=q)
""",
    ),
    "a listing is sorted in place": (
        "",
        """
def f(q):
    xs = os.listdir(".")
    xs.sort()
    return c.responses.create(instructions=",".join(xs), input=q)
""",
    ),
    "the first of a listing is taken": (
        "HSC111",
        """
def f(q):
    first = os.listdir(".")[0]
    return c.responses.create(instructions=first, input=q)
""",
    ),
    "a parameter is named as a clock and nobody calls": (
        "HSC101",
        """
def f(q, now):
    return c.responses.create(instructions=f"t {now}", input=q)
""",
    ),
    "a parameter is named as a clock and all callers give text": (
        "",
        """
def f(q, now):
    return c.responses.create(instructions=f"t {now}", input=q)
def g(q):
    return f(q, "noon")
""",
    ),
    "one branch adds an id": (
        "HSC102",
        """
def f(q):
    sys = "x"
    if q:
        sys += str(uuid.uuid4())
    return c.responses.create(instructions=sys, input=q)
""",
    ),
    "an object keeps a clock": (
        "HSC101",
        """
class A:
    def __init__(self, prompt): self.prompt = prompt
    def go(self, q): return c.responses.create(instructions=self.prompt, input=q)
def main(q): return A(f"now {datetime.now()}").go(q)
""",
    ),
    "a message is changed by its index": (
        "HSC101",
        """
def f(q):
    msgs = [{"role": "system", "content": "S"}]
    msgs[0]["content"] += f" {datetime.now()}"
    msgs.append({"role": "user", "content": q})
    return c.chat.completions.create(messages=msgs)
""",
    ),
    "a placeholder is replaced by the date": (
        "HSC101",
        """
def f(q):
    text = "S {d}".replace("{d}", str(date.today()))
    return c.chat.completions.create(
        messages=[{"role": "system", "content": text}, {"role": "user", "content": q}]
    )
""",
    ),
    "what a helper returns is mapped and joined": (
        "HSC101",
        """
def now(): return datetime.now()
def f(q):
    text = " ".join(map(str, ["a", now()]))
    return c.chat.completions.create(
        messages=[{"role": "system", "content": text}, {"role": "user", "content": q}]
    )
""",
    ),
    "the last user message has the clock": (
        "",
        """
async def f(q):
    late = {"role": "user", "content": f"{datetime.now()} " + q}
    try:
        return await c.chat.completions.create(
            messages=[{"role": "system", "content": "a"}, late]
        )
    finally:
        print(datetime.now())
""",
    ),
    "a model's answer is said to the next one": (
        "",
        """
def f(q):
    r = c.responses.create(instructions="x", input=f"{datetime.now()}")
    return c.responses.create(instructions=r.output_text, input=q)
""",
    ),
    "a case of a match gives an id": (
        "HSC102",
        """
def sys(kind):
    match kind:
        case "a": return "A"
        case _: return f"{uuid.uuid4()}"
def f(q): return c.responses.create(instructions=sys(q), input=q)
""",
    ),
    "a generator is joined": (
        "HSC111",
        """
gen = (n for n in os.listdir("."))
def f(q): return c.responses.create(instructions="".join(gen), input=q)
""",
    ),
    "a dict's values are tools": (
        "HSC111",
        """
def f(q):
    tools = {t.name: t for t in os.scandir(".")}
    return c.responses.create(instructions="x", tools=list(tools.values()), input=q)
""",
    ),
    "a dict's values are taken by sorted keys": (
        "",
        """
def f(q):
    tools = {}
    for n in os.listdir("."):
        tools[n] = json.load(open(n))
    return c.responses.create(instructions="x", tools=[tools[k] for k in sorted(tools)], input=q)
""",
    ),
}


@pytest.mark.parametrize("name", FLOWS)
def test_taint_goes_where_the_value_goes_when(name: str) -> None:
    code, source = FLOWS[name]
    found = {finding.code for finding in lint([Source("a.py", HEAD + source)]).findings}
    assert found == ({code} if code else set())
