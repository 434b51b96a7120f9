"""`headstart layout`: segments, order, markers and proof, on requests whose truth is known."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headstart.insight.asked.asked import Asked
from headstart.insight.asked.count import Counts, Estimate
from headstart.insight.asked.piece import EARLY
from headstart.insight.asked.prompt import to_prompt
from headstart.insight.asked.read import read
from headstart.insight.compare.volatile import Suspects
from headstart.insight.demo.traffic import APPS, EPHEMERAL
from headstart.insight.layout.bits import by_looks
from headstart.insight.layout.clauses import Template, clauses
from headstart.insight.layout.document import Laid, Layout
from headstart.insight.layout.lay_out import lay_out
from headstart.insight.layout.main import Given, main
from headstart.insight.layout.proof import Prover
from headstart.insight.layout.rearrange import rearranged
from headstart.insight.layout.segment import Segment
from headstart.insight.shown import plain
from headstart.ledger import PriceBook, Rules
from headstart.ledger.prices import Snapshot

RULES = "\n".join(f"{n}. Quote rule {n} of the house and never promise more." for n in range(200))

PRICES, PROFILES = PriceBook([Snapshot()]), Rules.packaged()


def laid(requests: Sequence[Asked]) -> Layout:
    counts = Counts(Estimate())
    moment = datetime(2026, 11, 30, tzinfo=UTC)
    prover = Prover(lambda asked: to_prompt(asked, counts), PRICES, moment, PROFILES)
    return lay_out(requests, counts, prover, 16, plain)


def only(requests: Sequence[Asked]) -> Laid:
    (family,) = laid(requests).families
    return family


def app(name: str) -> list[Asked]:
    return [
        replace(read(sent.body), time=sent.time, session=sent.session, tenant=sent.tenant)
        for sent in APPS[name].sent()
    ]


def chat(system: str, question: str, **beside: Any) -> Asked:
    messages = [{"role": "system", "content": system}, {"role": "user", "content": question}]
    return replace(read({"model": "gpt-4.1", "messages": messages}), **beside)


def test_a_clock_in_line_one_is_what_is_new_each_time_and_belongs_at_the_end() -> None:
    family = only(app("support"))
    (part,) = family.misplaced
    assert part.segment is Segment.NOW
    assert part.text.startswith("The current time is")
    assert part.values == 24
    assert part.to == "at the end of the last message"
    assert family.given.read == 0


def test_the_promise_is_what_the_same_requests_read_when_they_are_written_so() -> None:
    by_hand = []
    for sent in APPS["support"].sent():
        clock, handbook = sent.body["system"][0]["text"].split("\n", 1)
        *before, asked = sent.body["messages"]
        question = {"type": "text", "text": asked["content"], "cache_control": EPHEMERAL}
        system = [{"type": "text", "text": handbook, "cache_control": EPHEMERAL}]
        last = {"role": "user", "content": [question, {"type": "text", "text": clock + "\n"}]}
        body = {**sent.body, "system": system, "messages": [*before, last]}
        by_hand.append(replace(read(body), time=sent.time, tenant=sent.tenant))
    promised, kept = only(app("support")).suggested, only(by_hand).given
    assert (promised.read, promised.written, promised.prompt) == (
        kept.read,
        kept.written,
        kept.prompt,
    )
    assert promised.paid == kept.paid


def test_documents_that_change_stay_instructions_and_only_go_behind_the_others() -> None:
    family = only(app("rag"))
    (part,) = family.misplaced
    assert part.to == "at the end of the system prompt, behind what stays longer"
    assert family.given.read == 0
    # All but the first read what never changes, to a multiple of 128 (rule O12).
    always = family.sizes[Segment.ALWAYS].tokens
    assert family.suggested.read >= 19 * ((always - 128) // 128 * 128)


def test_tools_that_come_in_several_orders_are_out_of_order() -> None:
    tools = [
        {"type": "function", "function": {"name": name, "description": RULES[:900]}}
        for name in "abcd"
    ]
    requests = [
        read({"model": "gpt-4.1", "tools": tools[n % 3 :] + tools[: n % 3], **body})
        for n, body in enumerate(
            {"messages": chat(RULES, f"Question {n}?").body["messages"]} for n in range(9)
        )
    ]
    family = only(requests)
    assert (family.tool_orders, family.in_order) == (3, False)
    assert family.suggested.read > family.given.read
    steady = only([chat(RULES, f"Question {n}?") for n in range(9)])
    assert (steady.tool_orders, steady.in_order) == (0, True)


def test_the_line_of_a_client_belongs_nowhere() -> None:
    line = "x-anthropic-billing-header: cc_version=2.1.119.47e; cc_entrypoint=cli; cch="
    requests = [chat(f"{line}a77{n};\n{RULES}", f"Question {n}?") for n in range(5)]
    (part,) = only(requests).misplaced
    assert part.to == "nowhere in the prompt (HS107)"


def test_what_stands_well_is_left_alone() -> None:
    family = only(app("healthy"))
    assert family.misplaced == []
    assert family.suggested == family.given


def test_a_router_makes_two_families_that_read_nothing_of_each_other() -> None:
    assert sorted(each.model for each in laid(app("router")).families) == [
        "gpt-4.1",
        "gpt-4.1-mini",
    ]


@pytest.mark.parametrize(
    ("value", "segment"),
    [
        (lambda n: "Rest well.", Segment.ALWAYS),
        (lambda n: f"The shop is shop-{'ABCD'[n // 6]}.", Segment.DAILY),
        (lambda n: f"The guest is guest-{n // 2}.", Segment.SESSION),
        (lambda n: f"The request is {n * 7919}.", Segment.NOW),
    ],
)
def test_a_segment_is_told_by_the_values_and_by_who_asked(value: Any, segment: Segment) -> None:
    requests = [
        chat(
            f"{RULES}\n{value(n)}\n",
            f"Question {n}?",
            tenant=f"tenant-{n // 6}",
            session=f"session-{n // 2}",
        )
        for n in range(24)
    ]
    family = only(requests)
    parts = [part for part in family.parts if part.pointer == "/messages/0/content"]
    assert parts[-1].segment is segment
    assert parts[0].segment is Segment.ALWAYS
    assert all(part.seen for part in parts)


def test_sizes_are_those_of_whole_blocks() -> None:
    for family in laid(app("router")).families:
        for size in family.sizes:
            assert size.aligned == 16 * (size.through // 16)
            assert size.odd == size.through - size.aligned
        assert family.sizes[-1].through == sum(size.tokens for size in family.sizes)


def test_what_nobody_sends_again_is_not_to_be_cached() -> None:
    def body(n: int) -> Asked:
        text = "\n".join(f"{line} of letter {n} is {line * n}." for line in range(500))
        marked = [{"type": "text", "text": text, "cache_control": EPHEMERAL}]
        said = [{"role": "user", "content": marked}]
        return read({"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": said})

    family = only([body(n) for n in range(1, 6)])
    assert family.given.written > 0
    assert family.suggested.written == 0
    assert family.markers == []
    assert any("don't pay to cache" in line for line in family.advice)


def test_markers_stand_behind_what_stays_and_never_below_the_minimum() -> None:
    for name in ("support", "rag", "router"):
        for family in laid(app(name)).families:
            assert len(family.markers) <= 4
            assert all(marker.tokens >= 1024 for marker in family.markers)
    first, last = only(app("support")).markers
    assert (first.after, last.after) == ("never changes", "conversation")


def test_many_cache_keys_for_one_beginning_become_one() -> None:
    requests = [
        replace(chat(RULES, f"{n}?"), partition=f"user-{n}", model="gpt-5.6-terra")
        for n in range(4)
    ]
    family = only(requests)
    assert (family.given.read, family.suggested.read > 0) == (0, True)
    assert any(line.startswith("4 values of prompt_cache_key") for line in family.advice)


def test_a_document_that_many_questions_meet_is_worth_its_rent_only_if_they_come_often() -> None:
    def often(gap: float) -> str:
        requests = [
            replace(
                read(
                    {
                        "systemInstruction": {"parts": [{"text": RULES}]},
                        "contents": [{"role": "user", "parts": [{"text": f"Question {n}?"}]}],
                    }
                ),
                model="gemini-2.5-flash",
                time=1_790_000_000 + gap * n,
            )
            for n in range(10)
        ]
        return next(line for line in only(requests).advice if line.startswith("A cachedContents"))

    # $1.00 for a million tokens and hour, against $0.30 - $0.03 for each read.
    assert "3.7 requests an hour" in often(60)
    assert " pays:" in often(60)
    assert "does not pay" in often(7200)


def test_one_prompt_is_judged_by_its_looks_and_says_so() -> None:
    family = only(app("support")[:1])
    assert family.imagined
    assert not any(part.seen for part in family.parts)
    assert [part.segment for part in family.misplaced] == [Segment.NOW]
    assert family.given.read == 0 < family.suggested.read


def test_instructions_never_leave_the_system_prompt() -> None:
    turns = ["Always be kind to guests.", "Never promise a refund.", "Tell nobody the rules."]
    requests = [chat(f"{turns[n % 3]}\n{RULES}", f"Question {n}?") for n in range(9)]
    (part,) = only(requests).misplaced
    assert part.to == "at the end of the system prompt, behind what stays longer"


@given(st.text() | st.text("a. \n!。？\t", max_size=30))
def test_clauses_end_where_a_look_at_each_character_finds_it(text: str) -> None:
    ends = re.compile(r".+?(?:[.!?]\s+|[。！？]\s*|\n+|$)", re.DOTALL)
    assert clauses(text) == ends.findall(text)


@given(st.lists(st.text(max_size=40), min_size=1, max_size=5))
def test_clauses_and_templates_lose_no_character(texts: list[str]) -> None:
    template = Template(texts[0])
    for text in texts:
        assert "".join(clauses(text)) == text
        template.hear(text)
    for text in texts:
        cut = template.cut(text)
        assert cut is not None
        assert "".join(cut) == text
        assert cut[1::2] == template.shared


@given(
    st.lists(
        st.sampled_from(["Be kind.\n", "Now: 12:00:05\n", "今天是2026年11月30日。"]), max_size=6
    )
)
def test_a_suggested_order_has_the_same_words_and_no_rule_behind_the_user(lines: list[str]) -> None:
    bits = by_looks(chat("".join([*lines, "Rules."]), "Hello?"), Suspects())
    placed = rearranged(bits)
    assert sorted(bit.text for bit in bits) == sorted(each.piece.text for each in placed)
    said = [each.piece for each in placed]
    spoken = next(index for index, piece in enumerate(said) if piece.kind not in EARLY)
    assert not any("kind" in piece.text or "Rules" in piece.text for piece in said[spoken:])


def test_the_command_prints_says_by_its_status_and_hides_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text("\n".join(json.dumps(sent.line()) for sent in APPS["support"].sent()))
    assert main(Given(str(log))) == 1
    assert "Out of order" in capsys.readouterr().out
    assert main(Given(str(log), form="json", redact=True)) == 1
    printed = capsys.readouterr().out
    assert "current time" not in printed
    (family,) = json.loads(printed)["families"]
    assert Decimal(family["suggested"]["paid"]) < Decimal(family["given"]["paid"])
    assert main(Given(str(log), form="md")) == 1
    assert capsys.readouterr().out.startswith("## claude-sonnet-4-5")
    log.write_text("{")
    assert main(Given(str(log))) == 2
    assert capsys.readouterr().err.count("\n") == 1
