"""What vendors' rules and accounts cost a request of 100,000 tokens, beside what any server does.

python benchmarks/overhead.py [--repeats 30]

For every dialect the same conversation: a long system text and turns, in few or many messages, the
last two of them new, marked where the vendor has marks. *json*: the body parsed, what everybody
pays. Then *dialect*: parsing to the canonical request, less json. *contract*: where its blocks end
in tokens, plan, settle, commit, finish. *ledger*: the account's row handed over. Rendering,
tokenising and the engine are not in it. Milliseconds of the thread's CPU time: median (minimum).
"""

import argparse
import json
import os
import statistics
import tempfile
import time
from array import array
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from headstart.contracts.entries import Entries
from headstart.contracts.prompt import Block, Prompt
from headstart.dialects.anthropic.chat import AnthropicMessages
from headstart.dialects.chat import ChatRequest
from headstart.dialects.deepseek.chat import DeepSeekChat
from headstart.dialects.dialect import Dialect, Envelope
from headstart.dialects.openai.chat import OpenAIChat
from headstart.ledger import Account, Row, Rules, Store
from headstart.model.default import fetch_default_model
from headstart.server.terms import AllTerms, Terms
from headstart.text.codec import Codec
from headstart.text.places import ends

TOKENS = 100_000
SENTENCE = "The quick brown fox number {} jumps over the lazy dog and reads what it has cached. "
OUTPUT = array("I", range(1000, 1100))

Asked = tuple[Dialect, str, Envelope, Callable[[list[str]], dict[str, Any]]]


def openai(texts: list[str]) -> dict[str, Any]:
    return {"model": "gpt-5.6", "messages": _turns(texts)}


def deepseek(texts: list[str]) -> dict[str, Any]:
    return {"model": "deepseek-chat", "messages": _turns(texts)}


def anthropic(texts: list[str]) -> dict[str, Any]:
    system = {"type": "text", "text": texts[0], "cache_control": {"type": "ephemeral"}}
    return {
        "model": "claude-sonnet-4-5",
        "max_tokens": 10,
        "system": [system],
        "messages": _turns(texts)[1:],
        "cache_control": {"type": "ephemeral"},
    }


def _turns(texts: list[str]) -> list[dict[str, Any]]:
    roles = [
        "system",
        *("user" if number % 2 == 0 else "assistant" for number in range(len(texts))),
    ]
    return [{"role": role, "content": text} for role, text in zip(roles, texts, strict=False)]


ASKED: Mapping[str, Asked] = {
    "OpenAI": (OpenAIChat(), "openai", Envelope(), openai),
    "Anthropic": (
        AnthropicMessages(),
        "anthropic",
        Envelope({"anthropic-version": "2023-06-01"}),
        anthropic,
    ),
    "DeepSeek": (DeepSeekChat(), "deepseek", Envelope(), deepseek),
}


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


def to_prompt(
    codec: Codec, asked: ChatRequest, text: str, ids: Sequence[int], blocks: bool
) -> Prompt:
    parts = asked.parts if blocks else ()
    places = ends(text, [part.shown for part in parts])
    tokens = codec.tokens_through(text, ids, places, "")
    return Prompt(
        tenant="",
        model=asked.model,
        blocks=[
            Block(p.kind, p.digest, end, p.message, p.path, p.mark, p.markable)
            for p, end in zip(parts, tokens, strict=True)
        ],
        ids=ids,
        partition=asked.partition,
        settings=asked.settings,
        wishes=asked.wishes,
    )


def measure(
    codec: Codec, asking: Asked, terms: Terms, store: Store, messages: int, repeats: int
) -> dict[str, list[float]]:
    dialect, _, envelope, body_of = asking
    spent: dict[str, list[float]] = {"json": [], "dialect": [], "contract": [], "ledger": []}
    entries = Entries()
    known = body_of(texts_of(codec, messages, 0)[:-2])
    first = dialect.parse(json.dumps(known).encode(), envelope)
    text = codec.render(first.conversation)
    prompt = to_prompt(codec, first, text, codec.encode(text, ""), terms.contract.reads_blocks)
    terms.contract.plan(prompt, entries, 0.0).commit(entries, 0.0)
    for repeat in range(1, repeats + 1):
        body = json.dumps(body_of(texts_of(codec, messages, repeat))).encode()
        at = [time.thread_time()]
        msgspec.json.decode(body)
        at.append(time.thread_time())
        asked = dialect.parse(body, envelope)
        at.append(time.thread_time())
        text = codec.render(asked.conversation)
        ids = codec.encode(text, "")
        at.append(time.thread_time())
        prompt = to_prompt(codec, asked, text, ids, terms.contract.reads_blocks)
        plan = terms.contract.plan(prompt, entries, 1.0)
        decision = plan.settle(len(ids) - 1)
        plan.commit(entries, 1.0)
        terms.contract.finish(prompt, OUTPUT, entries, 1.0)
        at.append(time.thread_time())
        account = Account(decision.prompt, decision.read, 100, decision.written)
        store.add(
            Row(0.0, "id", "", "", asked.model, terms.name, dialect.name, account, decision.read)
        )
        at.append(time.thread_time())
        assert decision.read > 0, "the conversation before the last two messages is known"
        spent["json"].append(at[1] - at[0])
        spent["dialect"].append(at[2] - at[1] - (at[1] - at[0]))
        spent["contract"].append(at[4] - at[3])
        spent["ledger"].append(at[5] - at[4])
    return spent


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, add_help=True)
    parser.add_argument("--repeats", type=int, default=30)
    options = parser.parse_args()
    codec = Codec.from_gguf(fetch_default_model())
    aliases = [(vendor, body_of(["", ""])["model"]) for _, vendor, _, body_of in ASKED.values()]
    all_terms = AllTerms("local", aliases, Rules.packaged())
    print(f"{os.cpu_count()} cores; {TOKENS:,} tokens; ms of CPU: median (minimum)")
    print(
        f"{'':10} {'messages':>8} {'json':>14} {'dialect':>14} {'contract':>14} {'ledger':>16}"
        f" {'beyond json':>14}"
    )
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder) / "ledger.db")
        for name, asking in ASKED.items():
            for messages in (4, 40, 400):
                terms = all_terms.of(asking[3](["", ""])["model"], asking[1])
                spent = measure(codec, asking, terms, store, messages, options.repeats)
                beyond = [
                    sum(parts)
                    for parts in zip(
                        spent["dialect"], spent["contract"], spent["ledger"], strict=True
                    )
                ]
                cells = [_cell(spent[key]) for key in ("json", "dialect", "contract", "ledger")]
                print(
                    f"{name:10} {messages:8} "
                    + " ".join(f"{c:>14}" for c in cells)
                    + f"   {_cell(beyond):>14}"
                )
        store.close()


def _cell(seconds: list[float]) -> str:
    return f"{1e3 * statistics.median(seconds):.2f} ({1e3 * min(seconds):.2f})"


if __name__ == "__main__":
    main()
