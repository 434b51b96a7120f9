"""OpenAI's part of the checks of shared/reference/dialects.md §8, by their numbers.

Every one with the official client, unmodified, over a socket. `P(name)` is a text of its own of
1,100 tokens: `~` is in no merge of the tiny tokenizer, so each one is a token.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import openai
import pytest
from tests.conformance.served import Clock, load, serving, touched
from tests.server.conftest import Live

NEW, NEW_TOO, OLD = "gpt-5.6", "gpt-5.6-sol", "gpt-5.4"
LONG = 1100
TOOL: Any = {"type": "function", "name": "time", "parameters": {"type": "object", "properties": {}}}


@dataclass(frozen=True)
class Used:
    """What an answer says of its prompt."""

    total: int
    cached: int
    written: int
    response: Any

    @property
    def pair(self) -> tuple[int, int]:
        return self.cached, self.written

    @property
    def diagnosis(self) -> Any:
        """Newer than the oldest SDK supported, to which it is but a field."""
        return self.response.model_dump()["prompt_cache_diagnostics"]

    def written_for(self, lifetime: str) -> int:
        """Tokens, likewise."""
        details = self.response.model_dump()["usage"]["input_tokens_details"]
        return int((details["cache_write_tokens_details"] or {}).get(f"ttl_{lifetime}_tokens", 0))


@dataclass(frozen=True)
class Side:
    """One server, its clock, and one of its tenants."""

    live: Live
    clock: Clock
    key: str = "ka"

    @property
    def client(self) -> openai.OpenAI:
        return self.live.client(self.key)

    def ask(self, items: Any, *, tokens: int = 0, **fields: Any) -> Used:
        """Through Responses; without `tokens` any token ends the answer, which saves time."""
        options = {"model": NEW, "max_output_tokens": 16, "temperature": 0, "input": items}
        if tokens:
            options["max_output_tokens"] = tokens
        else:
            options["extra_body"] = {"stop_token_ids": list(range(self.live.codec.vocab_size))}
        response = self.client.responses.create(**options | fields)
        usage = response.usage
        assert usage is not None
        details = usage.input_tokens_details
        assert usage.total_tokens == usage.input_tokens + usage.output_tokens
        assert details.cached_tokens + details.cache_write_tokens <= usage.input_tokens
        return Used(usage.input_tokens, details.cached_tokens, details.cache_write_tokens, response)

    def chat(self, messages: Any, **fields: Any) -> Used:
        """Through chat completions."""
        options = {"model": NEW, "max_tokens": 4, "temperature": 0, "messages": messages}
        response = self.client.chat.completions.create(**options | fields)
        usage = response.usage
        assert usage is not None
        details = usage.prompt_tokens_details
        assert details is not None
        cached, written = details.cached_tokens or 0, details.cache_write_tokens or 0
        assert cached + written <= usage.prompt_tokens
        assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens
        return Used(usage.prompt_tokens, cached, written, response)


Ask = Callable[..., Used]


@pytest.fixture(scope="module")
def side(
    tiny_checkpoint: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Side]:
    folder = tmp_path_factory.mktemp("openai")
    keys, prices = folder / "keys", folder / "prices.toml"
    keys.write_text("ka alice\nkb bob\nkc carol\n")
    prices.write_text(f'[models.openai."{NEW}"]\ninput = 1\noutput = 0\n')
    clock = Clock()
    aliases = tuple(("openai", name) for name in (NEW, NEW_TOO, OLD))
    checkpoint = tiny_checkpoint("llama", max_position_embeddings=8192)
    with serving(
        load(checkpoint),
        clock,
        aliases=aliases,
        api_keys_file=str(keys),
        ledger=str(folder / "ledger.db"),
        prices=str(prices),
    ) as live:
        yield Side(live, clock)


def P(name: str, tokens: int = LONG) -> str:  # noqa: N802
    return f"{name} " + "~" * tokens


def says(role: str, *texts: Any) -> dict[str, Any]:
    """A message; a text in a tuple carries a breakpoint, with the lifetime that comes with it."""
    content = []
    for text in texts:
        part: dict[str, Any] = {"type": "input_text"}
        if isinstance(text, tuple):
            text, *ttl = text
            part["prompt_cache_breakpoint"] = {"mode": "explicit"} | (
                {"ttl": ttl[0]} if ttl else {}
            )
        content.append(part | {"text": text})
    return {"role": role, "content": content}


def user(*texts: Any) -> dict[str, Any]:
    return says("user", *texts)


def developer(*texts: Any) -> dict[str, Any]:
    return says("developer", *texts)


def explicit(**more: Any) -> dict[str, Any]:
    return {"prompt_cache_options": {"mode": "explicit", **more}}


def refusal(ask: Callable[[], Any]) -> openai.BadRequestError:
    with pytest.raises(openai.BadRequestError) as caught:
        ask()
    assert caught.value.request_id
    return caught.value


@pytest.mark.parametrize("model", ["tiny", NEW, OLD])
def test_check_01_a_plain_call_parses_strictly(side: Side, model: str) -> None:
    answer = side.ask("Hello", tokens=16, model=model).response
    assert answer.output_text
    assert answer.model == model
    chat = side.chat([{"role": "user", "content": "Hello"}], model=model).response
    assert chat.choices[0].message.content


def test_check_02_a_streams_deltas_are_the_whole_text_and_its_helper_finishes(side: Side) -> None:
    asked: Any = {"model": NEW, "input": "Tell me.", "temperature": 0, "max_output_tokens": 40}
    whole = side.client.responses.create(**asked)
    with side.client.responses.stream(**asked) as stream:
        events = list(stream)
    text = "".join(e.delta for e in events if e.type == "response.output_text.delta")
    assert text == whole.output_text
    last = events[-1]
    assert last.type in ("response.completed", "response.incomplete")
    assert last.response.output_text == text
    messages: Any = [{"role": "user", "content": "Tell me."}]
    # The helper of chat completions takes no answer that ends at its limit.
    plain: Any = {"model": NEW, "messages": messages, "temperature": 0, "stop": text[-3:]}
    chat = side.client.chat.completions.create(**plain)
    with side.client.chat.completions.stream(**plain) as chunks:
        final = chunks.get_final_completion()
    assert final.choices[0].message.content == chat.choices[0].message.content
    assert text.startswith(final.choices[0].message.content or "?")


def test_check_03_models_are_listed_in_openais_shape(side: Side) -> None:
    names = [model.id for model in side.client.models.list()]
    assert {"tiny", NEW, NEW_TOO, OLD} <= set(names)


@pytest.mark.parametrize("endpoint", ["responses", "chat"])
def test_check_06_what_is_written_is_read_to_the_token(side: Side, endpoint: str) -> None:
    if endpoint == "responses":
        first, second = (side.ask(P("c6")) for _ in range(2))
    else:
        message = {"role": "user", "content": P("c6chat")}
        first, second = (side.chat([message]) for _ in range(2))
    n = first.written
    assert n > LONG
    assert (first.pair, second.pair) == ((0, n), (n, 0))
    assert first.total == second.total


def test_check_06_chat_and_responses_share_their_prefixes(side: Side) -> None:
    """Ours: one prompt is one prompt, whoever asks."""
    first = side.chat([{"role": "user", "content": P("c6both")}])
    assert side.ask(P("c6both")).cached == first.written


def test_check_07_the_account_adds_up(side: Side) -> None:
    """`Side` asserts it of every answer in this file; here also of streams and of own names."""
    for model in ("tiny", NEW, OLD):
        used = side.ask(P("c7"), model=model)
        asked: Any = {"model": model, "input": P("c7"), "max_output_tokens": 16}
        with side.client.responses.stream(**asked, temperature=0) as stream:
            usage = list(stream)[-1].response.usage
        assert usage.input_tokens == used.total
        details = usage.input_tokens_details
        assert details.cached_tokens + details.cache_write_tokens <= usage.input_tokens


def test_check_11_a_hit_answers_as_the_cold_run_did(side: Side) -> None:
    cold, warm = (side.ask(P("c11"), tokens=40) for _ in range(2))
    assert (cold.cached, warm.cached) == (0, cold.written)
    assert warm.response.output_text == cold.response.output_text


def test_check_12_what_is_read_was_really_skipped(side: Side) -> None:
    for items in ([user(P("c12"))], [user(P("c12")), user("more")], [user(P("c12x"))]):
        before = side.live.engine.stats().prefill_tokens
        used = side.ask(items)
        computed = side.live.engine.stats().prefill_tokens - before
        assert used.total - computed >= used.cached


@pytest.mark.parametrize(("where", "reads"), [("in P", False), ("behind P", True)])
def test_check_13_nothing_is_read_beyond_what_changed(side: Side, where: str, reads: bool) -> None:
    name = f"c13 {where}"
    first = side.ask([user((P(name),), "one")], **explicit())
    changed = P(name)[:-1] + "!" if where == "in P" else P(name)
    second = side.ask([user((changed,), "two")], **explicit())
    assert second.cached == (first.written if reads else 0)


def test_check_33_tenants_share_nothing(side: Side) -> None:
    first = side.ask(P("c33"))
    other = Side(side.live, side.clock, "kb").ask(P("c33"))
    assert other.pair == first.pair == (0, first.written)


@pytest.mark.parametrize("model", [NEW, OLD])
def test_check_33_organizations_of_one_key_share_nothing(side: Side, model: str) -> None:
    """The SDK's `organization`, which it sends as a header."""

    def cached(organization: str | None, endpoint: str) -> bool:
        client = side.client.with_options(organization=organization)
        asked: Any = {"model": model, "temperature": 0}
        text = P(f"c33 {model}", 1300)
        if endpoint == "chat":
            message = {"role": "user", "content": text}
            chat = client.chat.completions.create(**asked, max_tokens=1, messages=[message])
            return bool(chat.usage.prompt_tokens_details.cached_tokens)
        answer = client.responses.create(**asked, max_output_tokens=16, input=text)
        return bool(answer.usage.input_tokens_details.cached_tokens)

    for organization in (None, "org-a", "org-b"):
        assert not cached(organization, "chat")
        assert cached(organization, "responses")
        assert cached(organization, "chat")


def test_check_34_model_names_share_nothing(side: Side) -> None:
    first, other = side.ask(P("c34")), side.ask(P("c34"), model=NEW_TOO)
    assert other.pair == first.pair == (0, first.written)


def test_check_35_cache_keys_share_nothing_and_none_is_one_too(side: Side) -> None:
    one = {"prompt_cache_key": "one"}
    for fields, cached in (({}, False), (one, False), ({"prompt_cache_key": "two"}, False)):
        assert bool(side.ask(P("c35"), **fields).cached) == cached
    assert side.ask(P("c35"), **one).cached
    assert side.ask(P("c35")).response.prompt_cache_key is None


def test_check_37_explicit_without_breakpoints_is_no_caching(side: Side) -> None:
    assert side.ask(P("c37")).written
    assert side.ask(P("c37"), **explicit()).pair == (0, 0)


def test_check_38_an_explicit_breakpoint_writes_its_prefix_alone(side: Side) -> None:
    first = side.ask([user((P("c38"),), "one " * 50)], **explicit())
    assert LONG < first.written < first.total - 50
    other = side.ask([user((P("c38"),), "two")], **explicit())
    assert other.pair == (first.written, 0)


@pytest.mark.parametrize("mode", ["explicit", "implicit"])
def test_check_39_the_latest_four_breakpoints_are_written_and_more_are_no_error(
    side: Side, mode: str
) -> None:
    texts = [P(f"c39 {mode}"), *(f"part {number} ~~~~" for number in range(6))]
    options = {"prompt_cache_options": {"mode": mode}}
    side.ask([user(texts[0], *((text,) for text in texts[1:]), "end")], **options)
    found = [
        # Only a breakpoint at the end of part `last`, so that only that boundary is looked up.
        bool(side.ask([user(*texts[:last], (texts[last],), "x")], **explicit()).cached)
        for last in range(1, 7)
    ]
    written = 4 if mode == "explicit" else 3
    # A probe writes its boundary: from the earliest on, each one asks for what nobody wrote yet.
    assert found == [False] * (6 - written) + [True] * written


def test_check_40_the_end_of_the_developer_run_is_read_only_where_it_was_written(
    side: Side,
) -> None:
    p = developer(P("c40"))
    assert side.ask([p, user("A")]).written
    assert side.ask([p, user("B")]).cached == 0
    alone = side.ask([p])
    assert side.ask([p, user("C")]).cached == alone.written > LONG


def test_check_41_the_next_turn_reads_the_end_of_the_last_user_message_exactly(side: Side) -> None:
    first = side.ask([user(P("c41"))])
    answer = {"role": "assistant", "content": "Well."}
    assert side.ask([user(P("c41")), answer, user("And?")]).cached == first.written


def test_check_41_so_does_a_turn_that_goes_on_from_a_stored_response(side: Side) -> None:
    first = side.ask([user(P("c41b"))])
    second = side.ask("And?", previous_response_id=first.response.id)
    third = side.ask("And?", previous_response_id=second.response.id)
    assert second.cached == first.written
    assert third.cached == first.written + second.written


def test_check_42_a_message_that_is_extended_is_not_read(side: Side) -> None:
    assert side.ask(P("c42")).written
    assert side.ask(P("c42") + " and more").cached == 0


def test_check_43_an_explicit_request_reads_what_one_of_its_breakpoints_meets(side: Side) -> None:
    first = side.ask([user(P("c43"))])
    assert side.ask([user(P("c43")), user(("x",))], **explicit()).cached == 0
    assert side.ask([user((P("c43"),)), user("y")], **explicit()).cached == first.written


@pytest.mark.parametrize(("marks", "reads"), [(79, True), (80, False)])
def test_check_44_the_latest_80_breakpoints_are_looked_up(
    side: Side, marks: int, reads: bool
) -> None:
    p = (P(f"c44 {marks}"),)
    first = side.ask([user(p)], **explicit())
    used = side.ask([user(p, *((f"part {number}",) for number in range(marks)))], **explicit())
    assert used.cached == (first.written if reads else 0)


def test_check_45_the_older_models_read_by_128_and_write_for_nothing(side: Side) -> None:
    for tokens in (1000, 1100, 1300):
        first, second = (side.ask(P(f"c45 {tokens}", tokens), model=OLD) for _ in range(2))
        assert first.pair == (0, 0)
        assert second.written == 0
        assert second.cached == 0 or (second.cached >= 1024 and second.cached % 128 == 0)
        assert second.total - 128 - 1 <= second.cached < second.total or second.total <= 1024


def test_check_45_the_older_models_know_no_breakpoints(side: Side) -> None:
    error = refusal(lambda: side.ask("x", model=OLD, **explicit()))
    assert (error.code, error.param) == ("unsupported_parameter", "prompt_cache_options")
    assert "Unsupported parameter: 'prompt_cache_options'." in error.message
    error = refusal(lambda: side.ask([user(("x",))], model=OLD))
    path = "input[0].content[0].prompt_cache_breakpoint"
    assert (error.code, error.param) == ("invalid_parameter", path)
    assert f"{path} is not supported on this model" in error.message


def test_check_46_the_minimum_is_1024_to_the_token(side: Side) -> None:
    used = side.ask(P("c46"))
    beyond = used.total - used.written
    rest = used.written - LONG
    for end, written in ((1023, 0), (1024, 1024), (1025, 1025)):
        found = side.ask(P("c46", end - rest))
        assert found.total == end + beyond
        assert found.pair == (0, written)


@pytest.mark.skipif(openai.VERSION.startswith("2."), reason="its answers know 30m alone")
def test_check_47_twelve_hours_are_billed_echoed_and_kept(side: Side) -> None:
    whole = side.ask(P("c47"), prompt_cache_options={"ttl": "12h"})
    assert whole.response.prompt_cache_options.ttl == "12h"
    assert (whole.written_for("12h"), whole.written_for("30m")) == (whole.written, 0)
    side.clock.advance(11 * 3600)
    assert side.ask(P("c47")).cached == whole.written


def test_check_47_twelve_hours_of_one_block_are_billed_and_kept(side: Side) -> None:
    block = side.ask([user((P("c47 block"), "12h"), "more")])
    assert block.written_for("12h") > LONG
    assert block.written_for("12h") + block.written_for("30m") == block.written
    assert block.response.prompt_cache_options.ttl == "30m"
    side.clock.advance(11 * 3600)
    again = side.ask([user((P("c47 block"), "12h"), "other")])
    assert again.cached == block.written_for("12h")


def test_check_47_a_chat_completion_lives_30_minutes_unless_a_block_says_12_hours(
    side: Side,
) -> None:
    message = {"role": "user", "content": P("c47 chat")}
    options: Any = {"ttl": "12h"}
    error = refusal(lambda: side.chat([message], prompt_cache_options=options))
    assert (error.param, error.code) == ("prompt_cache_options.ttl", "invalid_value")
    part = {
        "type": "text",
        "text": P("c47 part"),
        "prompt_cache_breakpoint": {"mode": "explicit", "ttl": "12h"},
    }
    first = side.chat([{"role": "user", "content": [part]}])
    side.clock.advance(3600)
    assert side.chat([{"role": "user", "content": [part]}]).cached == first.written


def test_check_48_thirty_minutes_begin_anew_with_every_use(side: Side) -> None:
    n = side.ask(P("c48")).written
    for minutes, pair in ((29, (n, 0)), (29, (n, 0)), (31, (0, n))):
        side.clock.advance(60 * minutes)
        assert side.ask(P("c48")).pair == pair


@pytest.mark.parametrize(
    "change",
    [
        {"text": {"format": {"type": "json_object"}}},
        {"text": {"verbosity": "low"}},
        {"reasoning": {"effort": "low"}},
        {"parallel_tool_calls": False},
        {"tools": [TOOL | {"description": "Other."}]},
    ],
)
def test_check_49_what_shapes_the_prompt_breaks_its_prefix(side: Side, change: Any) -> None:
    name = f"c49 {sorted(change)} {change.get('text')}"
    base: dict[str, Any] = {"tools": [TOOL]}
    first = side.ask(P(name), **base)
    assert first.written
    assert side.ask(P(name), **base | change).cached == 0
    assert side.ask(P(name), **base).cached == first.written


def test_check_49_what_does_not_shape_it_breaks_nothing(side: Side) -> None:
    first = side.ask(P("c49"), tools=[TOOL])
    for change in (
        {"tool_choice": "none"},
        {"tool_choice": "required"},
        {"temperature": 1},
        {"max_output_tokens": 17},
        {"metadata": {"a": "b"}},
    ):
        assert side.ask(P("c49"), tools=[TOOL], **change).cached == first.written


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"model": NEW_TOO}, "model_changed"),
        ({"prompt_cache_key": "other"}, "prompt_cache_key_changed"),
        ({"tools": [TOOL | {"description": "Other."}]}, "tools_changed"),
        ({"text": {"format": {"type": "json_object"}}}, "text_format_changed"),
        ({"reasoning": {"effort": "low"}}, "reasoning_effort_changed"),
        ({"text": {"verbosity": "low"}}, "verbosity_changed"),
        ({"service_tier": "flex"}, "service_tier_changed"),
        ({"input": P("another")}, "input_changed"),
    ],
)
def test_check_50_a_miss_has_its_reason(side: Side, change: Any, reason: str) -> None:
    """The ninth, `context_compacted`, can't come: nothing is compacted here."""
    base: dict[str, Any] = {"items": P(f"c50 {reason}"), "tools": [TOOL]}
    first = side.ask(**base)
    items = change.pop("input", base["items"]) if "input" in change else base["items"]
    options = {"prompt_cache_options": {"comparison_response_id": first.response.id}}
    told = side.ask(**base | {"items": items} | change | options).diagnosis
    assert (told["type"], told["reason"]) == ("cache_miss", reason)
    reusable = told["comparison_reusable_tokens"]
    assert 0 < told["cache_missed_tokens"] <= reusable == first.written


def test_check_50_a_hit_is_told_and_an_unknown_response_is_no_error(side: Side) -> None:
    first = side.ask(P("c50"))
    assert first.diagnosis is None

    def compared(response_id: str, own: Side = side) -> Any:
        options = {"comparison_response_id": response_id}
        used = own.ask(P("c50"), prompt_cache_options=options)
        assert used.response.prompt_cache_options.comparison_response_id == response_id
        return used.diagnosis["type"]

    assert compared(first.response.id) == "cache_hit"
    assert compared("resp_nobody") == "comparison_response_not_found"
    bob = Side(side.live, side.clock, "kb")
    assert compared(first.response.id, bob) == "comparison_response_not_found"


@pytest.mark.parametrize("stream", [False, True])
def test_check_51_a_prewarm_writes_and_says_nothing(side: Side, stream: bool) -> None:
    asked: Any = {"model": NEW, "input": P(f"c51 {stream}")}
    prewarm: Any = {"prompt_cache_options": {"prewarm": True}}
    if stream:
        with side.client.responses.stream(**asked, **prewarm) as events:
            response = events.get_final_response()
    else:
        response = side.client.responses.create(**asked, **prewarm)
    usage = response.usage
    assert usage is not None
    assert (response.status, response.output, usage.output_tokens) == ("completed", [], 0)
    written = usage.input_tokens_details.cache_write_tokens
    assert written > LONG
    assert side.ask(asked["input"]).pair == (written, 0)


def test_check_55_a_chats_usage_is_the_last_chunk_and_only_if_asked_for(side: Side) -> None:
    n = side.chat([{"role": "user", "content": P("c55")}]).written
    asked = {
        "model": NEW,
        "messages": [{"role": "user", "content": P("c55")}],
        "max_tokens": 4,
        "stream": True,
    }
    with side.live.http(headers={"authorization": f"Bearer {side.key}"}) as http:
        for options, told in ({}, False), ({"stream_options": {"include_usage": True}}, True):
            lines = http.post("/v1/chat/completions", json=asked | options).text.split("\n\n")
            assert lines[-2:] == ["data: [DONE]", ""]
            assert ('"choices":[]' in lines[-3]) == told
            assert (f'"cached_tokens":{n}' in lines[-3]) == told
            assert not any('"cached_tokens"' in line for line in lines[:-3])


def test_check_55_a_responses_usage_is_in_its_last_event_alone(side: Side) -> None:
    asked: Any = {"model": NEW, "input": P("c55"), "max_output_tokens": 16}
    events = list(side.client.responses.create(**asked, stream=True))
    numbers = [event.sequence_number for event in events]
    assert numbers == list(range(len(events)))
    with_usage = [e for e in events if getattr(getattr(e, "response", None), "usage", None)]
    assert with_usage == events[-1:]


def test_check_61_misuse_is_the_sdks_typed_error(side: Side) -> None:
    error = refusal(lambda: side.client.responses.create(model=NEW, input="x", extra_body={"y": 1}))
    assert "Unknown parameter: 'y'." in error.message
    assert (error.code, error.param, error.type) == (
        "unknown_parameter",
        "y",
        "invalid_request_error",
    )
    with pytest.raises(openai.NotFoundError) as missing:
        side.client.responses.create(model="gpt-9", input="x")
    assert (missing.value.code, missing.value.param) == ("model_not_found", "model")
    with pytest.raises(openai.AuthenticationError) as unknown:
        side.live.client("nobody").responses.create(model=NEW, input="x")
    assert unknown.value.request_id
    chat = refusal(
        lambda: side.client.chat.completions.create(
            model=NEW, messages=[{"role": "user", "content": "x"}], extra_body={"y": 1}
        )
    )
    assert "Unrecognized request argument supplied: y" in chat.message
    assert chat.code is None


def test_check_61_a_prompt_beyond_the_context_is_refused_as_such(side: Side) -> None:
    error = refusal(lambda: side.ask(P("c61", 9000)))
    assert (error.code, error.param) == ("context_length_exceeded", "input")


def test_check_62_lost_kv_is_a_miss_and_nothing_else(side: Side) -> None:
    first = side.ask(P("c62"), tokens=24)
    side.live.engine.reset_cache()
    again = side.ask(P("c62"), tokens=24)
    # The contract still believes in its entry: what the engine no longer has is written again.
    assert again.cached == 0
    assert again.written == first.written
    assert again.response.output_text == first.response.output_text


def test_check_63_a_client_that_leaves_leaves_valid_entries_and_no_kv_held(
    side: Side, eventually: Any
) -> None:
    asked: Any = {"model": NEW, "input": P("c63"), "max_output_tokens": 4000}
    body = asked | {"stream": True, "ignore_eos": True}
    headers = {"authorization": f"Bearer {side.key}"}
    with (
        side.live.http(headers=headers) as http,
        http.stream("POST", "/v1/responses", json=body) as response,
    ):
        next(response.iter_lines())
    eventually(lambda: side.live.engine.stats().running == 0)
    assert side.live.engine.stats().cache.used_tokens == 0
    assert side.ask(P("c63")).cached > LONG


def test_check_64_counted_tokens_are_billed_tokens_and_touch_nothing(side: Side) -> None:
    stored = side.ask("Hello", tools=[TOOL]).response
    body: dict[str, Any] = {
        "input": [user(P("c64")), user("more")],
        "instructions": "Be brief.",
        "tools": [TOOL],
        "previous_response_id": stored.id,
    }
    before = touched(side.live.engine)
    counted = side.client.responses.input_tokens.count(model=NEW, **body).input_tokens
    assert touched(side.live.engine) == before
    used = side.ask(body.pop("input"), **body)
    assert used.total == counted
    assert used.cached == 0


def test_check_65_one_write_and_nine_reads_cost_2_15_prompts_of_10(side: Side) -> None:
    """1.25 + 9 x 0.1 times the prefix; the words that open the answer are paid for in full."""
    carol = Side(side.live, side.clock, "kc")
    used = [carol.ask(P("c65")) for _ in range(10)]
    n, ordinary = used[0].written, used[0].total - used[0].written
    assert [each.cached for each in used] == [0] + [n] * 9
    total = side.live.get("/v1/usage", "kc").json()["total"]
    assert Decimal(total["without_cache"]) == Decimal(10 * (n + ordinary)) / 1_000_000
    assert Decimal(total["paid"]) == (Decimal("2.15") * n + 10 * ordinary) / 1_000_000


@pytest.mark.slow
def test_the_guides_example_of_12000_and_15000_tokens(tiny_checkpoint: Callable[..., Path]) -> None:
    """Rule O9: 12,000 written; then 15,000, of which 12,000 are read and 3,000 written."""
    checkpoint = tiny_checkpoint("llama", max_position_embeddings=16384)
    with serving(load(checkpoint), Clock(), aliases=(("openai", NEW),)) as live:
        side = Side(live, Clock())
        short = side.ask([user(P("guide"))])
        first = user(P("guide", LONG + 12_000 - short.written))
        answer = {"role": "assistant", "content": "Well."}
        one = side.ask([first])
        probe = side.client.responses.input_tokens.count
        beyond = one.total - one.written
        more = probe(model=NEW, input=[first, answer, user("~")]).input_tokens - beyond
        two = side.ask([first, answer, user("~" * (1 + 15_000 - more))])
    assert one.pair == (0, 12_000)
    assert two.pair == (12_000, 3_000)
    assert (one.total, two.total) == (12_000 + beyond, 15_000 + beyond)


def test_a_stored_completion_is_served_to_every_version_of_the_client(side: Side) -> None:
    """Beyond the checks: the fields of `chat.completions` that only `store: true` gives sense."""
    chats = side.client.chat.completions
    hello: Any = [{"role": "user", "content": "Hello"}]
    sent = chats.create(
        model=NEW, messages=hello, max_completion_tokens=2, store=True, metadata={"run": "conf"}
    )
    (listed,) = chats.list(metadata={"run": "conf"}, model=NEW, order="desc", limit=1).data
    kept = chats.retrieve(sent.id)
    assert listed.choices == kept.choices == sent.choices
    assert kept.usage == sent.usage
    changed = chats.update(sent.id, metadata={"run": "over"}).model_dump()
    assert changed["metadata"] == {"run": "over"}
    assert chats.delete(sent.id).deleted
    with pytest.raises(openai.NotFoundError):
        chats.messages.list(sent.id)


def test_thoughts_of_the_vendors_models_come_back_without_costing_a_token(side: Side) -> None:
    """Beyond the checks: `reasoning` items stand in every conversation with a reasoning model."""
    thought = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}
    said = [
        {"role": "user", "content": P("thoughts")},
        {"role": "assistant", "content": "Yes."},
        {"role": "user", "content": "Why?"},
    ]
    first = side.ask(said[:1])
    again = side.ask([said[0], thought, *said[1:]])
    plain = side.ask(said)
    assert again.cached == first.written > LONG
    assert plain.total == again.total
    assert (plain.cached, plain.written) == (again.cached + again.written, 0)
