"""What vendors' rules and accounts cost a request of 100,000 tokens, beside what any server does.

python benchmarks/overhead.py [--repeats 20] [--messages 4,40,400,4000] [--only anthropic]

For every dialect the same conversation: a long system text and turns, in few or many messages, the
last two of them new; without marks of a vendor's that has them, and with as many as it takes.

*json*: the body parsed, what everybody pays. *dialect*: parsing to the canonical request, less
json. *places*: where its blocks end in tokens. *plan*: what the contract reads and writes.
*settle*: the account settled, the entries written, the answer too. *ledger*: the account's row
handed over. Rendering, tokenising and the engine are not in it. Milliseconds of the thread's CPU
time: medians, and of all that is beyond json also the (minimum).
"""

import argparse
import json
import os
import statistics
import tempfile
import time
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec

from headstart.contracts.entries import Entries
from headstart.dialects.anthropic.request import parse_messages
from headstart.dialects.chat import ChatRequest
from headstart.dialects.deepseek.chat import DeepSeekChat
from headstart.dialects.dialect import Envelope
from headstart.dialects.gemini.generate import GeminiGenerate
from headstart.dialects.gemini.request import Found
from headstart.dialects.openai.chat_request import parse_chat
from headstart.dialects.openai.responses.request import parse_create
from headstart.ledger import Account, Row, Rules, Store
from headstart.model.default import fetch_default_model
from headstart.server.kept import Kept
from headstart.server.prepare import to_prompt
from headstart.server.terms import AllTerms, Terms
from headstart.text.codec import Codec

TOKENS = 100_000
SENTENCE = "The quick brown fox number {} jumps over the lazy dog and reads what it has cached. "
OUTPUT = array("I", range(1000, 1100))
STAGES = ("json", "dialect", "places", "plan", "settle", "ledger")

Body = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """A way to ask. `marks`: how many it sets."""

    name: str
    vendor: str
    model: str
    body: Callable[[str, list[str], int], Body]
    parse: Callable[[bytes], ChatRequest]
    marks: int = 0
    reads: bool = True
    """Whether anything is read of a conversation that is known but for its end."""


def openai(model: str, texts: list[str], marks: int) -> Body:
    return {"model": model, "messages": _marked(_turns(texts), marks, "text", OPENAI_MARK)}


def responses(model: str, texts: list[str], marks: int) -> Body:
    return {"model": model, "input": _marked(_turns(texts), marks, "input_text", OPENAI_MARK)}


def anthropic(model: str, texts: list[str], marks: int) -> Body:
    system, *turns = _marked(_turns(texts), marks, "text", ANTHROPIC_MARK)
    return {"model": model, "max_tokens": 10, "system": system["content"], "messages": turns}


def automatic(model: str, texts: list[str], marks: int) -> Body:
    return anthropic(model, texts, marks) | ANTHROPIC_MARK


def gemini(_: str, texts: list[str], __: int) -> Body:
    system, *turns = _turns(texts)
    return {
        "systemInstruction": {"parts": [{"text": system["content"]}]},
        "contents": [
            {
                "role": "model" if turn["role"] == "assistant" else "user",
                "parts": [{"text": turn["content"]}],
            }
            for turn in turns
        ],
    }


OPENAI_MARK = {"prompt_cache_breakpoint": {"mode": "explicit"}}
ANTHROPIC_MARK = {"cache_control": {"type": "ephemeral"}}


def _turns(texts: list[str]) -> list[Body]:
    roles = ["system", *("assistant" if number % 2 else "user" for number in range(len(texts)))]
    return [{"role": role, "content": text} for role, text in zip(roles, texts, strict=False)]


def _marked(turns: list[Body], marks: int, kind: str, mark: Body) -> list[Body]:
    """The system text, and the latest messages of the user."""
    users = [turn for turn in turns if turn["role"] == "user"]
    for turn in ([turns[0], *users[-marks + 1 :]] if marks else [])[:marks]:
        turn["content"] = [{"type": kind, "text": turn["content"], **mark}]
    return turns


def find_nothing(name: str, _: str) -> Found:
    raise KeyError(name)


ENVELOPE = Envelope({"anthropic-version": "2023-06-01"})
GEMINI = Envelope(path={"model": "gemini-2.5-flash"})


def _anthropic(body: bytes) -> ChatRequest:
    return parse_messages(body, ENVELOPE)


def _responses(body: bytes) -> ChatRequest:
    return parse_create(body, Kept(), "1").chat


def _gemini(body: bytes) -> ChatRequest:
    return GeminiGenerate(find_nothing).parse(body, GEMINI)


def _deepseek(body: bytes) -> ChatRequest:
    return DeepSeekChat().parse(body, Envelope())


GPT, OLD_GPT, CLAUDE = "gpt-5.6", "gpt-4o", "claude-sonnet-4-5"
CASES = (
    Case("OpenAI", "openai", GPT, openai, parse_chat),
    Case("OpenAI", "openai", GPT, openai, parse_chat, marks=4),
    Case("OpenAI, older", "openai", OLD_GPT, openai, parse_chat),
    Case("Responses", "openai", GPT, responses, _responses),
    Case("Responses", "openai", GPT, responses, _responses, marks=4),
    Case("Anthropic", "anthropic", CLAUDE, anthropic, _anthropic, reads=False),
    Case("Anthropic, auto", "anthropic", CLAUDE, automatic, _anthropic),
    Case("Anthropic", "anthropic", CLAUDE, anthropic, _anthropic, marks=4),
    Case("Gemini", "gemini", GEMINI.path["model"], gemini, _gemini),
    Case("DeepSeek", "deepseek", "deepseek-chat", openai, _deepseek),
)


def texts_of(codec: Codec, messages: int, new: int) -> list[str]:
    """Texts of 100,000 tokens in all; the last two are different for every `new`."""
    each = len(codec.encode(SENTENCE.format(1000)))
    sentences = TOKENS // each // messages
    parts = [
        "".join(SENTENCE.format(1000 + number * sentences + i) for i in range(sentences))
        for number in range(messages - 2)
    ]
    last = "".join(SENTENCE.format(10**6 + new * 1000 + i) for i in range(sentences))
    return [*parts, last, last]


def measure(
    codec: Codec, case: Case, terms: Terms, store: Store, messages: int, repeats: int
) -> list[dict[str, float]]:
    """Seconds of every stage, for every repeat."""
    entries = Entries()
    spent = []
    for repeat in range(repeats + 1):
        texts = texts_of(codec, messages, repeat)
        body = json.dumps(
            case.body(case.model, texts if repeat else texts[:-2], case.marks)
        ).encode()
        at = [time.thread_time()]
        msgspec.json.decode(body)
        at.append(time.thread_time())
        asked = case.parse(body)
        at.append(time.thread_time())
        text = codec.render(asked.conversation)
        ids = codec.encode(text, "")
        began = time.thread_time()
        prompt = to_prompt(codec, asked, text, ids, "")
        at.append(at[-1] + time.thread_time() - began)
        began = time.thread_time()
        plan = terms.contract.plan(prompt, entries, 1.0)
        at.append(at[-1] + time.thread_time() - began)
        began = time.thread_time()
        decision = plan.settle(len(ids) - 1)
        plan.commit(entries, 1.0)
        terms.contract.finish(prompt, plan, OUTPUT, entries, 1.0)
        at.append(at[-1] + time.thread_time() - began)
        began = time.thread_time()
        account = Account(decision.prompt, decision.read, 100, decision.written)
        store.add(
            Row(0.0, "id", "", "", asked.model, terms.name, case.name, account, decision.read)
        )
        at.append(at[-1] + time.thread_time() - began)
        if repeat:
            assert (decision.read > 0) == case.reads
            stages = [end - begin for begin, end in pairwise(at)]
            spent.append(dict(zip(STAGES, stages, strict=True)))
    decoding = statistics.median(each["json"] for each in spent)
    return [each | {"dialect": each["dialect"] - decoding} for each in spent]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, add_help=True)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--messages", default="4,40,400,4000")
    parser.add_argument("--only", default="", help="dialects whose name begins so")
    options = parser.parse_args()
    codec = Codec.from_gguf(fetch_default_model())
    aliases = sorted({(case.vendor, case.model) for case in CASES})
    all_terms = AllTerms("local", aliases, Rules.packaged())
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; {TOKENS:,} tokens; ms of CPU")
    print(
        f"{'':16}{'marks':>5}{'messages':>10}"
        + "".join(f"{stage:>9}" for stage in STAGES)
        + f"{'beyond json':>18}"
    )
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder) / "ledger.db")
        for case in CASES:
            if not case.name.lower().startswith(options.only.lower()):
                continue
            for messages in map(int, options.messages.split(",")):
                terms = all_terms.of(case.model, case.vendor)
                spent = measure(codec, case, terms, store, messages, options.repeats)
                print(f"{case.name:16}{case.marks:5}{messages:10,}" + _row(spent), flush=True)
        store.close()


def _row(spent: Sequence[dict[str, float]]) -> str:
    medians = [1e3 * statistics.median(each[stage] for each in spent) for stage in STAGES]
    beyond = [1e3 * (sum(each.values()) - each["json"]) for each in spent]
    cells = "".join(f"{median:9.2f}" for median in medians)
    return cells + f"{statistics.median(beyond):9.2f} ({min(beyond):6.2f})"


if __name__ == "__main__":
    main()
