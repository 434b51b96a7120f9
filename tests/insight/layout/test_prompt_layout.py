"""Layouts: what they refuse, and the bodies that they make."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.search import examples

from headstart.contracts.prompt import Mark
from headstart.dialects.anthropic.chat import AnthropicMessages
from headstart.dialects.chat import ChatRequest
from headstart.dialects.deepseek.chat import DeepSeekChat
from headstart.dialects.dialect import Envelope
from headstart.dialects.gemini.generate import GeminiGenerate
from headstart.dialects.openai.chat_request import parse_chat
from headstart.dialects.openai.responses.request import parse_create
from headstart.insight.asked.detect import Signs
from headstart.insight.asked.piece import Piece
from headstart.insight.asked.read import read
from headstart.insight.causes import Cause
from headstart.insight.layout import OutOfOrder, PromptLayout, Volatile

LONG = "Answer briefly, and say where it stands. " * 150
"""More than 1,024 tokens in anybody's vocabulary."""
TOOLS = (
    {"name": "search", "description": "Finds pages.", "parameters": {"type": "object"}},
    {
        "name": "open",
        "parameters": {"type": "object", "properties": {"b": {"type": "string"}, "a": {}}},
        "description": "Opens a page.",
    },
)
Body = dict[str, Any]


def bodies(layout: Any) -> dict[str, Body]:
    return {
        "anthropic": layout.to_anthropic("claude-opus-5", max_tokens=64),
        "openai": layout.to_openai("gpt-5.6-terra"),
        "older": layout.to_openai("gpt-4.1"),
        "deepseek": layout.to_openai("deepseek-chat"),
        "responses": layout.to_responses("gpt-5.6-sol"),
        "gemini": layout.to_gemini(),
    }


def pieces(name: str, body: Body) -> list[Piece]:
    formats: dict[str, Any] = {"anthropic": "anthropic", "responses": "responses"}
    form = formats.get(name, "gemini" if name == "gemini" else "chat")
    return list(read(body, Signs(format=form)).pieces)


def marked(name: str, body: Body) -> list[str]:
    return [piece.text for piece in pieces(name, body) if piece.mark is not None]


def parsed(name: str, body: Body) -> ChatRequest:
    """By the strict parser of the server's dialect."""
    raw = json.dumps(body).encode()
    match name:
        case "anthropic":
            return AnthropicMessages().parse(raw, Envelope({"anthropic-version": "2023-06-01"}))
        case "deepseek":
            return DeepSeekChat().parse(raw, Envelope())
        case "gemini":
            return GeminiGenerate(_nothing, streaming=False).parse(
                raw, Envelope(path={"model": "m"})
            )
        case "responses":
            return parse_create(raw, Nothing(), "1").chat
    return parse_chat(raw)


def _nothing(*_: Any) -> Any:
    raise AssertionError("nothing is stored")


class Nothing:
    """No response was kept, and none is asked for."""

    chain = item = staticmethod(_nothing)


def test_what_stays_longer_cannot_be_added_behind_what_does_not() -> None:
    base: Any = PromptLayout().always("Rules.")
    daily, session = base.daily("Prices of today."), base.session("Ann asks.")
    turn, now = base.turn("user", "Hello?"), base.now("Hello?")
    for late, methods in (
        (daily, ["always"]),
        (session, ["always", "daily"]),
        (turn, ["always", "daily", "session"]),
        (now, ["always", "daily", "session", "now"]),
    ):
        for method in methods:
            with pytest.raises(OutOfOrder, match=rf"{method}\(\) after .* is read again only"):
                getattr(late, method)("More rules.")
    with pytest.raises(OutOfOrder, match=r"turn\(\) after now\(\)"):
        now.turn("user", "And?")


def test_a_layout_is_never_changed_by_adding_to_it() -> None:
    base = PromptLayout(tools=TOOLS).always("Rules.")
    before = base.now("A?").to_gemini()
    base.always("More.").session("Ann.").turn("user", "B?")
    assert base.now("A?").to_gemini() == before


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("The current time is 2026-11-30T12:00:00Z. Be kind.", Cause.CLOCK),
        ("Today is 2026-11-30.", Cause.DATE),
        ("今天是2026年11月30日。请礼貌回答。", Cause.DATE),
        ("Request id: 7c9e6679-7425-40de-944b-e07fc1f90ae7", Cause.IDENTIFIER),
        ("nonce: 8f3a9c", Cause.NONCE),
    ],
)
def test_what_looks_volatile_may_not_be_called_steady_by_accident(text: str, cause: Cause) -> None:
    with pytest.raises(Volatile, match=r"HS1.*steady=True") as caught:
        PromptLayout().always(text)
    assert caught.value.cause is cause
    assert caught.value.value in text
    assert PromptLayout().always(text, steady=True).stable[0][1] == text
    PromptLayout().now(text)


def test_a_date_may_stay_for_a_day_and_a_clock_may_not() -> None:
    PromptLayout().daily("Today is 2026-11-30.")
    with pytest.raises(Volatile):
        PromptLayout().daily("Current time: 12:00:05")
    with pytest.raises(Volatile):
        PromptLayout().session("Current time: 12:00:05")


def test_texts_and_tools_are_in_one_form_whoever_wrote_them() -> None:
    one = PromptLayout(tools=TOOLS).always("Zu\u0308rich\r\nand\rBern")
    other = PromptLayout(tools=TOOLS[::-1]).always("Z\u00fcrich\nand\nBern")
    assert json.dumps(bodies(one.now("?"))) == json.dumps(bodies(other.now("?")))
    tools = one.now("?").to_openai("gpt-4.1")["tools"]
    assert [tool["function"]["name"] for tool in tools] == ["open", "search"]
    assert list(tools[0]["function"]["parameters"]["properties"]) == ["a", "b"]


def test_empty_texts_and_layouts_and_tools_of_one_name_are_refused() -> None:
    for wrong in (
        lambda: PromptLayout().always(" "),
        lambda: PromptLayout().now(),
        lambda: PromptLayout().always("Rules.").to_gemini(),
        lambda: PromptLayout(tools=(TOOLS[0], TOOLS[0])),
        lambda: PromptLayout(tools=({"description": "no name"},)),
        lambda: PromptLayout().now("?").to_anthropic("claude-opus-5", max_tokens=1, lifetime="9m"),
    ):
        with pytest.raises(ValueError, match=r"empty|at least one|nothing is|two tools|a tool|9m"):
            wrong()


def test_each_segment_ends_in_a_marker_and_nothing_new_is_marked() -> None:
    layout = PromptLayout(tools=TOOLS).always(LONG).always("And kindly.").daily("Prices: 3, 4.")
    whole = (
        layout.session("Ann asks.").turn("user", "A?").turn("assistant", "B.").turn("user", "C?")
    )
    found = bodies(whole.now("It is 12:00:05."))
    stable = ["And kindly.", "Prices: 3, 4.", "Ann asks.", "C?"]
    assert marked("anthropic", found["anthropic"]) == stable
    assert marked("openai", found["openai"]) == stable
    assert marked("responses", found["responses"]) == stable
    assert found["openai"]["prompt_cache_options"] == {"mode": "explicit"}
    for name in ("older", "deepseek", "gemini"):
        assert marked(name, found[name]) == []


def test_nothing_below_the_minimum_is_marked() -> None:
    short = PromptLayout().always("Be brief.").daily(LONG)
    found = bodies(short.now("?"))
    assert [text[:9] for text in marked("anthropic", found["anthropic"])] == [LONG[:9]]
    assert (
        marked("anthropic", bodies(PromptLayout().always("Be brief.").now("?"))["anthropic"]) == []
    )


def test_a_first_question_is_not_marked_for_nobody_may_come_back_for_it() -> None:
    first = PromptLayout().always(LONG).turn("user", "A?")
    assert len(marked("anthropic", first.to_anthropic("claude-opus-5", max_tokens=9))) == 1


def test_tools_alone_carry_the_marker_where_the_vendor_takes_one_there() -> None:
    tools = [
        {"name": f"tool_{n}", "description": LONG[:2000], "parameters": {"type": "object"}}
        for n in range(8)
    ]
    body = PromptLayout(tools=tools).now("?").to_anthropic("claude-opus-5", max_tokens=9)
    assert [piece.mark for piece in pieces("anthropic", body)] == [None] * 7 + [Mark(), None]


def test_a_longer_lifetime_is_asked_for_what_outlives_a_session_and_comes_first() -> None:
    layout = PromptLayout().always(LONG).daily("Prices: 3.").session("Ann asks.").now("?")
    body = layout.to_anthropic("claude-opus-5", max_tokens=9, lifetime="1h")
    lives = [block.get("cache_control", {}).get("ttl") for block in body["system"]]
    assert lives == ["1h", "1h", None]


def test_the_cache_key_is_that_of_what_never_changes() -> None:
    base = PromptLayout(tools=TOOLS).always("Rules.")
    keys = {
        layout.to_openai("gpt-4.1")["prompt_cache_key"]
        for layout in (base.now("A?"), base.daily("Prices.").now("B?"))
    }
    other = PromptLayout(tools=TOOLS).always("Other rules.").now("A?").to_openai("gpt-4.1")
    assert len(keys) == 1
    assert other["prompt_cache_key"] not in keys
    assert "prompt_cache_key" not in base.now("A?").to_openai("deepseek-chat")


texts = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1, max_size=30
).filter(lambda text: bool(text.strip()))
stable = st.lists(texts, max_size=2)
talk = st.lists(texts, max_size=4)


def laid(
    base: PromptLayout, daily: list[str], session: list[str], turns: list[str], asked: list[str]
) -> Any:
    layout: Any = base
    for text in daily:
        layout = layout.daily(text, steady=True)
    for text in session:
        layout = layout.session(text, steady=True)
    for number, text in enumerate(turns):
        layout = layout.turn("assistant" if number % 2 else "user", text)
    return layout.now(*asked) if asked or not turns else layout


later = st.tuples(stable, stable, talk, st.lists(texts, min_size=1, max_size=2))


@settings(max_examples=examples(15))
@given(always=st.lists(texts, min_size=1, max_size=2), one=later, other=later)
def test_layouts_that_begin_alike_share_exactly_that_beginning_in_every_dialect(
    always: list[str], one: Any, other: Any
) -> None:
    base = PromptLayout(tools=TOOLS)
    for text in always:
        base = base.always(text, steady=True)
    mine, theirs = bodies(laid(base, *one)), bodies(laid(base, *other))
    alone = bodies(base.now("?"))
    for name, body in mine.items():
        # Google renders tools behind the instructions, which these two need not share.
        early = len(always) if name == "gemini" else len(always) + len(TOOLS)
        stays = [piece.digest for piece in pieces(name, alone[name])[:early]]
        for each in (body, theirs[name]):
            assert [piece.digest for piece in pieces(name, each)][: len(stays)] == stays, name


@settings(max_examples=examples(25))
@given(parts=later)
def test_every_body_is_one_that_the_vendors_strict_parser_takes(parts: Any) -> None:
    base = PromptLayout(tools=TOOLS).always(LONG)
    for name, body in bodies(laid(base, *parts)).items():
        parsed(name, body)


@settings(max_examples=examples(15))
@given(parts=later, more=texts)
def test_a_session_that_goes_on_begins_as_it_ended(parts: Any, more: str) -> None:
    daily, session, turns, asked = parts
    turns = [*turns, "And?"] if len(turns) % 2 == 0 else turns
    before = bodies(laid(PromptLayout(tools=TOOLS).always(LONG), daily, session, turns, []))
    goes_on = [*turns, "Said.", more]
    after = bodies(laid(PromptLayout(tools=TOOLS).always(LONG), daily, session, goes_on, asked))
    for name, body in before.items():
        had = [piece.digest for piece in pieces(name, body)]
        assert [piece.digest for piece in pieces(name, after[name])][: len(had)] == had, name
