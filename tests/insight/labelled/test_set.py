"""The set is what its labels say, by oracles that know nothing of the tools it is made for."""

import base64
import json
import re
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from tests.insight.labelled.__main__ import write_all
from tests.insight.labelled.build import cases, logs
from tests.insight.labelled.case import DIALECTS, Body, Case, Labelled, Log
from tests.insight.labelled.naive import Seen, first_difference, pieces
from tests.insight.labelled.pictures import unpacked
from tests.insight.labelled.played import play, refuses, shared, tokens
from tests.insight.labelled.prose import most_tokens
from tests.insight.labelled.scene import MINIMUMS

from headstart.dialects.anthropic.chat import AnthropicMessages
from headstart.dialects.dialect import Envelope
from headstart.dialects.errors import ApiError
from headstart.dialects.openai.chat_request import parse_chat
from headstart.insight.causes import Cause

SEED = 0
EVERYWHERE = {
    Cause.CLOCK,
    Cause.DATE,
    Cause.IDENTIFIER,
    Cause.COUNTER,
    Cause.NONCE,
    Cause.RETRIEVAL,
    Cause.WHITESPACE,
    Cause.LINE_ENDS,
    Cause.UNICODE_FORM,
    Cause.WIDTH,
    Cause.INVISIBLE,
    Cause.JSON_ORDER,
    Cause.WORDING,
    Cause.TOOL_ORDER,
    Cause.TOOLS_CHANGED,
    Cause.TOOL_DEFINITION,
    Cause.KEY_ORDER,
    Cause.ORDER,
    Cause.SYSTEM_CHANGED,
    Cause.HISTORY_EDITED,
    Cause.WINDOW,
    Cause.COMPACTION,
    Cause.RETRIEVAL_ORDER,
    Cause.MODEL,
}
MARKED = {
    Cause.THINKING,
    Cause.SETTING,
    Cause.NO_MARKER,
    Cause.TOO_MANY_MARKERS,
    Cause.LOOKBACK,
    Cause.MARKER_AFTER_VOLATILE,
    Cause.MARKER_REFUSED,
    Cause.BELOW_MINIMUM,
    Cause.NEVER_READ,
    Cause.FORM,
    Cause.MEDIA,
}
IN_ONE_PIECE = {
    Cause.CLOCK,
    Cause.DATE,
    Cause.IDENTIFIER,
    Cause.COUNTER,
    Cause.NONCE,
    Cause.WHITESPACE,
    Cause.LINE_ENDS,
    Cause.UNICODE_FORM,
    Cause.WIDTH,
    Cause.INVISIBLE,
    Cause.JSON_ORDER,
    Cause.WORDING,
    Cause.TOOL_DEFINITION,
    Cause.KEY_ORDER,
    Cause.SYSTEM_CHANGED,
    Cause.HISTORY_EDITED,
    Cause.MEDIA,
}
"""Planted in a piece that stays where it is."""
FREE = {Cause.FORM, Cause.LIFETIME_CHANGED, Cause.NEVER_READ, Cause.MARKER_REFUSED}
"""They cost no read here: forms render alike, a lifetime is a price, the others have no twin."""


@pytest.fixture(scope="module")
def small() -> list[Case]:
    return list(cases(SEED))


@pytest.fixture(scope="module")
def forty() -> list[Log]:
    return list(logs(SEED))


@pytest.fixture(scope="module")
def defects(small: list[Case], forty: list[Log]) -> list[Labelled]:
    return [each for each in [*small, *forty] if each.kind == "defect"]


@pytest.fixture(scope="module")
def well(small: list[Case], forty: list[Log]) -> list[Labelled]:
    return [each for each in [*small, *forty] if each.kind == "healthy"]


def read(body: Body, case: Labelled) -> list[Seen]:
    return pieces(body, case.dialect)


@pytest.mark.slow
def test_a_seed_makes_the_same_set_again_and_another_seed_other_words(small: list[Case]) -> None:
    assert [dumped(case.bodies) for case in cases(SEED)] == [dumped(case.bodies) for case in small]
    others = list(cases(SEED + 1))
    assert [case.name for case in others] == [case.name for case in small]
    assert not any(
        dumped(one.bodies) == dumped(other.bodies) for one, other in zip(small, others, strict=True)
    )


def dumped(value: Any) -> str:
    """JSON, keys in the order in which they are."""
    return json.dumps(value, ensure_ascii=False)


def test_every_kind_of_defect_is_there_in_every_dialect_that_has_it(small: list[Case]) -> None:
    found = defaultdict(set)
    for case in small:
        found[case.cause].add(case.dialect)
    for cause in EVERYWHERE:
        assert found[cause] == set(DIALECTS), cause
    for cause in MARKED:
        assert {"anthropic", "chat", "responses"} <= found[cause], cause
    assert found[Cause.TOOL_CHOICE] == {"anthropic"}
    assert found[Cause.CACHE_KEY] == {"chat", "responses"}
    assert found[Cause.LIFETIME_CHANGED] == {"anthropic", "responses"}
    assert len(found) - 1 >= 29
    assert len({case.name for case in small}) == len(small)


def test_a_case_is_a_few_requests_and_a_log_is_forty(small: list[Case], forty: list[Log]) -> None:
    assert all(1 <= len(case.bodies) <= 6 for case in small)
    for log in forty:
        assert len(log.bodies) == len(log.times) == len(log.sessions) == 40
        assert list(log.times) == sorted(log.times)
        assert min(after - before for before, after in pairwise(log.times)) >= 20
    assert len(forty) == 18
    assert {log.kind for log in forty} == {"defect", "healthy"}


@pytest.mark.slow
def test_everything_can_be_written_to_files_and_read_again(
    tmp_path: Any, small: list[Case], forty: list[Log]
) -> None:
    assert write_all(tmp_path, SEED) == len(small) + len(forty)
    labels = [json.loads(line) for line in (tmp_path / "labels.jsonl").open(encoding="utf-8")]
    for label, case in zip(labels, [*small, *forty], strict=True):
        with (tmp_path / label["file"]).open(encoding="utf-8", newline="\n") as file:
            assert [json.loads(line) for line in file] == case.lines()
        assert label["cause"] == case.cause


def test_the_pointer_is_that_of_a_piece_of_the_kind_it_names(defects: list[Labelled]) -> None:
    for case in defects:
        if case.place is not None:
            kinds = {seen.pointer: seen.kind for seen in read(case.bodies[-1], case)}
            named = {kinds[case.pointer]} | (
                {"system"} if kinds[case.pointer] == "developer" else set()
            )
            assert case.place in named, case.name
        elif case.pointer:
            value: Any = case.bodies[-1]
            for step in case.pointer.split("/")[1:]:
                value = value[step]


def test_the_last_two_requests_part_where_it_is_said(defects: list[Labelled]) -> None:
    for case in defects:
        if case.kept is None or case.place is None or len(case.bodies) > 6:
            continue
        before, after = (read(body, case) for body in case.bodies[-2:])
        index = first_difference(before, after)
        assert index == case.kept, case.name
        assert after[index].pointer == case.pointer, case.name


def test_where_a_setting_is_at_fault_the_prompts_go_on(defects: list[Labelled]) -> None:
    for case in defects:
        if case.place is not None or case.kept is None or case.cause == Cause.TOOLS_CHANGED:
            continue
        before, after = (read(body, case) for body in case.bodies[-2:])
        index = first_difference(before, after)
        assert index is None or index == len(before) - 1, case.name


def test_what_is_quoted_stands_in_each_request_where_it_is_said(defects: list[Labelled]) -> None:
    quoted = 0
    for case in defects:
        if not case.evidence:
            continue
        assert len(set(case.evidence)) == len(case.bodies) or "midnight" in case.name
        for body, value in zip(case.bodies, case.evidence, strict=True):
            texts = {seen.pointer: seen.text for seen in read(body, case)}
            said = texts[case.pointer]
            assert value in said or dumped(value)[1:-1] in said, case.name
            quoted += 1
    assert quoted > 500


def test_a_planted_value_is_all_that_a_case_and_its_twin_differ_in(defects: list[Labelled]) -> None:
    for case in defects:
        if case.cause not in IN_ONE_PIECE:
            continue
        assert len(case.bodies) == len(case.twin), case.name
        changed = 0
        for planted, good in zip(case.bodies, case.twin, strict=True):
            ours, theirs = read(planted, case), read(good, case)
            assert len(ours) == len(theirs), case.name
            for one, other in zip(ours, theirs, strict=True):
                assert (one.pointer, one.mark) == (other.pointer, other.mark), case.name
                if one.text != other.text:
                    assert one.pointer == case.pointer, case.name
                    changed += 1
        assert changed, case.name


def test_the_same_said_otherwise_is_the_same(defects: list[Labelled]) -> None:
    """Each by its own rule for what is the same."""
    rules: dict[Cause, Any] = {
        Cause.WHITESPACE: lambda text: " ".join(text.split()),
        Cause.LINE_ENDS: lambda text: text.replace("\r\n", "\n"),
        Cause.UNICODE_FORM: lambda text: unicodedata.normalize("NFC", text),
        Cause.WIDTH: lambda text: unicodedata.normalize("NFKC", text),
        Cause.INVISIBLE: lambda text: text.translate(dict.fromkeys(map(ord, "\u200b\ufeff\u2060"))),
        Cause.JSON_ORDER: sorted,
        Cause.KEY_ORDER: lambda text: json.dumps(json.loads(text), sort_keys=True),
    }
    for case in defects:
        if case.cause in rules:
            same = rules[case.cause]
            texts = [
                next(seen.text for seen in read(body, case) if seen.pointer == case.pointer)
                for body in case.bodies
            ]
            assert len(set(texts)) > 1, case.name
            assert len({str(same(text)) for text in texts}) == 1, case.name


def test_a_picture_that_was_encoded_anew_has_the_same_pixels(defects: list[Labelled]) -> None:
    for case in defects:
        if case.cause == Cause.MEDIA:
            files = [
                base64.b64decode(re.search(r"iVBOR[A-Za-z0-9+/=]+", dumped(body))[0])
                for body in case.bodies
            ]
            assert len(set(files)) == len(files)
            assert len({unpacked(file) for file in files}) == 1


@pytest.mark.slow
def test_prompts_are_long_enough_to_be_cached(
    defects: list[Labelled], well: list[Labelled]
) -> None:
    for case in [*defects, *well]:
        if case.cause == Cause.BELOW_MINIMUM or Cause.BELOW_MINIMUM in case.also:
            continue
        for body in case.bodies:
            model = body["model"].removeprefix("models/")
            assert tokens(body, case.dialect) >= MINIMUMS[case.dialect][model], case.name


def test_what_is_below_the_minimum_is_so_by_any_tokenizer(small: list[Case]) -> None:
    short = [
        case
        for case in small
        if case.cause == Cause.BELOW_MINIMUM or Cause.BELOW_MINIMUM in case.also
    ]
    assert len(short) >= 8
    for case in short:
        for body in case.bodies:
            least = MINIMUMS[case.dialect][body["model"].removeprefix("models/")]
            most = sum(most_tokens(seen.text) for seen in read(body, case))
            # DeepSeek's 64 tokens are less than any prompt worth sending.
            assert most < least or case.dialect == "deepseek", case.name


@pytest.mark.slow
def test_healthy_requests_read_what_they_share_with_earlier_ones(
    well: list[Labelled], defects: list[Labelled]
) -> None:
    """By the vendors' rules, and so do the twins of what was planted."""
    sets = [(case.name, case.dialect, case.bodies) for case in well]
    sets += [(case.name, case.dialect, case.twin) for case in defects if case.twin]
    for name, dialect, bodies in sets:
        if len(bodies) > 6:
            continue
        for number, decision in enumerate(play(bodies, dialect)):
            there = shared(bodies, number, dialect)
            least = MINIMUMS[dialect][bodies[number]["model"].removeprefix("models/")]
            if there >= least + 128:
                assert decision.read >= 0.7 * there, (name, number, there)


@pytest.mark.slow
def test_what_was_planted_costs_reads(defects: list[Labelled]) -> None:
    for case in defects:
        if case.cause in FREE or not case.twin or len(case.bodies) < 2:
            continue
        if case.cause == Cause.TOO_MANY_MARKERS and case.dialect == "anthropic":
            continue
        lost, had = (
            sum(decision.read for decision in play(bodies, case.dialect))
            for bodies in (case.bodies, case.twin)
        )
        assert lost < had, case.name


def test_what_is_never_read_is_written_each_time(small: list[Case]) -> None:
    for case in small:
        if case.cause == Cause.NEVER_READ:
            for decision in play(case.bodies, case.dialect):
                assert decision.read == 0
                assert sum(decision.written.values()) > 0


def test_other_lifetimes_are_the_same_prompts(small: list[Case]) -> None:
    for case in small:
        if case.cause == Cause.LIFETIME_CHANGED:
            for one, other in zip(case.bodies, case.twin, strict=True):
                ours, theirs = read(one, case), read(other, case)
                assert [seen.text for seen in ours] == [seen.text for seen in theirs]
            assert dumped(case.bodies[-1]) != dumped(case.twin[-1])


def test_what_is_refused_is_refused_by_the_vendors_rules(small: list[Case]) -> None:
    refused = [
        case
        for case in small
        if case.cause == Cause.MARKER_REFUSED
        or (case.cause == Cause.TOO_MANY_MARKERS and case.dialect == "anthropic")
    ]
    assert len(refused) >= 12
    for case in refused:
        assert all(refuses(body, case.dialect) for body in case.bodies), case.name
        assert not any(refuses(body, case.dialect) for body in case.twin), case.name


def test_anthropics_bodies_are_valid(small: list[Case], forty: list[Log]) -> None:
    envelope = Envelope({"anthropic-version": "2023-06-01"})
    parsed = 0
    for case in [*small, *forty]:
        if case.dialect != "anthropic" or case.cause == Cause.MARKER_REFUSED:
            continue
        for body in [*case.bodies, *case.twin]:
            if beyond_text(body):
                continue
            AnthropicMessages().parse(json.dumps(body).encode(), envelope)
            parsed += 1
    assert parsed > 500


def beyond_text(body: Body) -> bool:
    """Images and budgets of thoughts: good for the vendor, and nothing that this server serves."""
    return '"type": "image"' in dumped(body) or body.get("thinking", {}).get("type") == "enabled"


def test_chat_bodies_are_valid(small: list[Case]) -> None:
    def valid(bodies: Sequence[Body]) -> None:
        for body in bodies:
            if '"type": "image_url"' not in dumped(body):
                parse_chat(json.dumps(body).encode())

    for case in small:
        if case.dialect in ("chat", "deepseek"):
            valid(case.twin)
            if case.cause == Cause.MARKER_REFUSED and "ttl" in case.name:
                with pytest.raises(ApiError):
                    valid(case.bodies)
            else:
                valid(case.bodies)
