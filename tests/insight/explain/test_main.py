"""`headstart explain` as it is run: forms, ids, exit statuses, what can't be read."""

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from headstart.insight.causes import ABOUT, Cause
from headstart.insight.explain.explanation import Wanted
from headstart.insight.explain.main import Given, main
from headstart.insight.explain.render import Form

NOW = 1_796_029_000.0
"""2026-11-30, 09:16:40 UTC."""
RULES = " ".join(f"Rule {n}: answer question {n} briefly, and cite § {n * 7}." for n in range(150))
SECRET = "the merger with Initech"


def body(system: str = RULES, said: Any = ("Hi!",), **fields: Any) -> dict[str, Any]:
    roles = ("user", "assistant")
    marked = {"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}
    turns = [{"role": roles[n % 2], "content": text} for n, text in enumerate(said)]
    return {
        "model": "claude-sonnet-4-5",
        "max_tokens": 8,
        "system": [marked],
        "messages": turns,
    } | fields


class Run:
    """Writes files and runs the command on them."""

    def __init__(self, directory: Path, capsys: Any) -> None:
        self._directory = directory
        self._capsys = capsys
        self.status = -1
        self.err = ""

    def file(self, name: str, *rows: Any) -> str:
        path = self._directory / name
        path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows))
        return str(path)

    def text(self, first: str, second: str | None = None, form: Form = "text", **more: Any) -> str:
        wanted = Wanted(
            now=NOW, **{name: more.pop(name) for name in ("walk", "triage") if name in more}
        )
        self.status = main(Given(first, second, form=form, wanted=wanted, **more))
        told = self._capsys.readouterr()
        self.err = told.err
        return str(told.out)

    def json(self, *given: Any, **more: Any) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.text(*given, form="json", **more))
        return found

    def pair(self, one: Any, other: Any, **more: Any) -> dict[str, Any]:
        return self.json(self.file("a.json", one), self.file("b.json", other), **more)

    def log(self, *rows: Any, **more: Any) -> dict[str, Any]:
        return self.json(self.file("log.jsonl", *rows), **more)


@pytest.fixture
def run(tmp_path: Path, capsys: Any) -> Run:
    return Run(tmp_path, capsys)


def cause(found: dict[str, Any]) -> str | None:
    return None if found["cause"] is None else str(found["cause"]["name"])


def test_a_clock_in_front_is_named_with_its_place_its_cost_and_the_way_out(run: Run) -> None:
    clocks = ("2026-11-30 09:14:03", "2026-11-30 09:15:41")
    found = run.pair(*(body(f"It is {clock}. {RULES}") for clock in clocks))
    assert run.status == 1
    assert cause(found) == Cause.CLOCK
    assert found["cause"]["way_out"] == ABOUT[Cause.CLOCK].way_out
    place = found["place"]
    assert (place["segment"], place["pointer"], place["message"]) == ("system", "/system/0", None)
    assert place["character"] == len("It is 2026-11-30 09:1")
    assert (place["before"], place["after"]) == clocks
    assert (place["block"], place["pieces_kept"]) == (place["token"] // 16, 0)
    assert found["hits"]["contract"]["read"] == 0
    prompt = found["hits"]["prompt_tokens"]
    assert 0.97 * prompt < found["lost"]["tokens"] < prompt
    assert found["diagnostics"]["type"] == "system_changed"
    # Written at 1.25 times $3 a million tokens instead of read at 0.1 times; none of it was fresh.
    million = float(found["lost"]["dollars"]) * 1e6 / found["lost"]["tokens"]
    assert million == pytest.approx(3 * (1.25 - 0.1), rel=0.01)
    assert found["counted"]["how"] == found["place"]["how"] == "estimated"


def test_the_same_explanation_is_the_same_text_in_every_form(run: Run) -> None:
    files = run.file("a.json", body()), run.file("b.json", body(f"Be kind. {RULES}"))
    forms: tuple[Form, ...] = ("json", "text", "md")
    for form in forms:
        one = run.text(*files, form=form, walk=True, triage=True)
        assert one == run.text(*files, form=form, walk=True, triage=True)
        assert one.endswith("\n")
    assert json.loads(run.text(*files, form="json"))["schema_version"] == 1


def test_nothing_of_the_text_is_shown_where_it_must_not_be(run: Run) -> None:
    files = run.file("a.json", body(f"{SECRET} {RULES}")), run.file("b.json", body(RULES))
    forms: tuple[Form, ...] = ("json", "text", "md")
    for form in forms:
        assert SECRET in run.text(*files, form=form)
        shown = run.text(*files, form=form, redact=True)
        assert SECRET.split()[-1] not in shown
        assert "sha256" in shown


def test_a_moved_marker_and_a_longer_conversation_lose_nothing(run: Run) -> None:
    mark = {"cache_control": {"type": "ephemeral"}}
    first = body(said=([{"type": "text", "text": "Hi!"} | mark],))
    grown = body(
        said=([{"type": "text", "text": "Hi!"}], "Hello.", [{"type": "text", "text": "?"} | mark])
    )
    found = run.pair(first, grown)
    assert (run.status, found["outcome"], found["said"]) == (0, "nothing_lost", "it only grew")
    assert found["place"]["segment"] == "end"
    assert found["diagnostics"]["type"] is None


def test_keys_in_another_order_differ_in_bytes_and_not_in_what_they_mean(run: Run) -> None:
    schemas = ({"type": "object", "title": "T"}, {"title": "T", "type": "object"})
    found = run.pair(
        *(body(tools=[{"name": "weather", "input_schema": schema}]) for schema in schemas)
    )
    assert cause(found) == Cause.KEY_ORDER
    assert (found["place"]["bytes"], found["place"]["canonical"]) == ("differ", "equal")
    assert (found["place"]["segment"], found["place"]["pointer"]) == ("tools", "/tools/0")


def test_anthropics_tools_come_before_the_system_prompt_and_geminis_behind_it(run: Run) -> None:
    names = ("b", "a")
    tools = [
        [{"name": name, "input_schema": {}} for name in order] for order in (names, names[::-1])
    ]
    found = run.pair(*(body(tools=each) for each in tools))
    assert (cause(found), found["place"]["pieces_kept"]) == (Cause.TOOL_ORDER, 0)
    assert found["hits"]["plain"]["tokens"] < 16
    declared = [
        {
            "systemInstruction": {"parts": [{"text": RULES}]},
            "contents": [{"role": "user", "parts": [{"text": "Hi!"}]}],
            "tools": [{"functionDeclarations": [{"name": name} for name in order]}],
        }
        for order in (names, names[::-1])
    ]
    found = run.pair(*declared, model="gemini-2.5-flash")
    assert (cause(found), found["place"]["pieces_kept"]) == (Cause.TOOL_ORDER, 1)
    assert found["hits"]["plain"]["tokens"] > 1000


def test_what_came_too_late_had_expired(run: Run) -> None:
    rows = [
        {"id": f"r{n}", "time": NOW + late, "body": body(said=(f"{n}?",))}
        for n, late in enumerate((0, 299, 700))
    ]
    found = run.log(*rows, id="r1")
    assert (run.status, cause(found)) == (0, None)
    assert found["hits"]["contract"]["read"] > 1024
    found = run.log(*rows, id="r2")
    assert (run.status, cause(found), found["seconds_between"]) == (1, Cause.EXPIRED, 401)
    assert found["lost"]["tokens"] > 1024
    assert found["hits"]["contract"]["read"] == 0
    assert found["place"]["pointer"] == "/messages/0/content"


def test_a_request_is_found_by_its_id_or_else_by_its_line_and_without_either_it_is_the_last(
    run: Run,
) -> None:
    rows = [{"id": name, "body": body(said=(f"{name}?",))} for name in ("2", "b", "c")]
    assert run.log(*rows, id="2")["request"]["number"] == 1
    assert run.log(*rows, id="3")["request"]["id"] == "c"
    assert run.log(*rows)["request"]["id"] == "c"
    assert run.log(body(), body(), id="2")["request"]["number"] == 2
    run.text(run.file("log.jsonl", *rows), id="nobody")
    assert (run.status, run.err) == (2, "headstart explain: no request 'nobody'\n")


def test_the_first_of_all_was_never_seen_and_has_lost_nothing(run: Run) -> None:
    found = run.log(body(), body(), id="1")
    assert (run.status, cause(found), found["place"]) == (0, Cause.NEVER_SEEN, None)


def test_usage_that_tells_of_no_read_is_not_explained_away(run: Run) -> None:
    usage = {"input_tokens": 9, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 3000}
    rows = [{"time": NOW + n, "body": body(), "usage": usage} for n in range(2)]
    found = run.log(*rows)
    assert (run.status, found["outcome"], found["cause"]) == (3, "unknown", None)
    assert found["usage"] == {
        "how": "measured",
        "prompt_tokens": 3009,
        "read": 0,
        "written": {"5m": 3000},
        "output_tokens": 0,
    }
    elsewhere = [rows[0] | {"route": "eu"}, rows[1] | {"route": "us"}]
    assert cause(run.log(*elsewhere)) == Cause.SCATTERED
    told = [rows[0], rows[1] | {"reason": "evicted"}]
    assert cause(run.log(*told)) == Cause.EVICTED


def test_what_goes_on_from_a_stored_response_is_not_all_in_its_body(run: Run) -> None:
    rows = [
        {"model": "gpt-6-sol", "input": "Hi!", "previous_response_id": f"resp_{n}"} for n in "ab"
    ]
    found = run.log(*rows)
    assert (run.status, found["outcome"]) == (3, "unknown")


def test_a_price_that_nobody_knows_is_unknown_and_not_0(run: Run) -> None:
    found = run.pair(*(body(text, model="claude-nobody-1") for text in (RULES, f"Hi. {RULES}")))
    assert found["lost"]["dollars"] is None
    files = run.file("a.json", body(model="x")), run.file("b.json", body(f"Hi. {RULES}", model="x"))
    assert "unknown: no price of x" in run.text(*files)


def test_two_answers_to_one_greedy_prompt_may_differ_by_the_order_of_sums(run: Run) -> None:
    said = [{"content": [{"type": "text", "text": text}]} for text in ("Yes.", "No.")]
    rows = [{"body": body(temperature=0), "response": answer} for answer in said]
    found = run.log(*rows, triage=True)["triage"]
    assert found["cache_changed_the_output"] == "possible"
    assert found["looked_at"] == ["the answers differ"]
    drawn = [{"body": body()}, {"body": body()}]
    assert run.log(*drawn, triage=True)["triage"]["cache_changed_the_output"] == "unlikely"
    others = [{"body": body(temperature=0, top_p=p)} for p in (0.5, 0.6)]
    found = run.log(*others, triage=True)["triage"]
    assert (found["cache_changed_the_output"], found["because"]) == (
        "no",
        "top_p differs: 0.5, 0.6",
    )


def test_the_walk_shows_a_long_run_by_its_ends(run: Run) -> None:
    files = run.file("a.json", body()), run.file("b.json", body(said=("Bye. " * 40,)))
    shown = run.text(*files, walk=True)
    walk = shown.partition("The walk")[2]
    assert walk.count("HIT") == 6
    assert "more like these" in walk
    steps = json.loads(run.text(*files, form="json", walk=True))["walk"]
    assert [len(step["key"]) for step in steps] == [64] * len(steps)
    assert steps[0]["hit"]
    assert not steps[-1]["hit"]


@pytest.mark.parametrize(
    "content", [b"", b"nope", b"{", b"[]", b"{}", b"\x00\xff", b"[1]", b'{"messages": 3}']
)
def test_a_broken_or_foreign_file_is_one_line_and_2(
    run: Run, tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "x.json").write_bytes(content)
    assert run.text(str(tmp_path / "x.json"), run.file("b.json", body())) == ""
    assert (run.status, run.err.count("\n")) == (2, 1)
    assert run.err.startswith("headstart explain: ")
    assert run.text(str(tmp_path / "x.json")) == ""
    assert run.status == 2


def test_several_requests_are_no_side_of_a_pair(run: Run) -> None:
    run.text(run.file("a.json", body(), body()), run.file("b.json", body()))
    assert run.status == 2
    assert "--id" in run.err


def test_nothing_is_connected_unless_a_server_is_named(
    run: Run, monkeypatch: pytest.MonkeyPatch, closed_url: str
) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("a connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    run.pair(body(), body(f"Hi. {RULES}"))
    monkeypatch.undo()
    run.text(run.file("a.json", body()), run.file("b.json", body()), url=closed_url)
    assert run.status == 2
    assert "no server answers" in run.err


def test_with_a_tokenizer_texts_are_counted_and_only_the_template_is_not_known(
    run: Run, tmp_path: Path
) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    words.save(str(tmp_path / "tokenizer.json"))
    found = run.pair(
        body("One two three. " + RULES),
        body("One two four. " + RULES),
        tokenizer=tmp_path / "tokenizer.json",
    )
    assert found["counted"]["how"] == "derived"
    # Two messages' openings of three tokens each beside the words.
    assert found["hits"]["prompt_tokens"] == 3 + len(f"One two four. {RULES}".split()) + 3 + 1


def test_tokens_that_the_recording_has_are_measured(run: Run) -> None:
    ids = list(range(128))
    rows = [
        {"body": {"model": "m", "prompt": "x y"}, "tokens": ids},
        {"body": {"model": "m", "prompt": "x z"}, "tokens": [*ids[:100], 7, *ids[101:]]},
    ]
    found = run.log(*rows)
    assert found["counted"]["how"] == "measured"
    assert (found["place"]["token"], found["hits"]["plain"]["aligned_tokens"]) == (100, 96)


def test_a_line_that_is_still_being_written_is_told_and_the_others_are_explained(run: Run) -> None:
    log = run.file("log.jsonl", body(), body("It is 09:14:03.\n" + RULES))
    with Path(log).open("a") as file:
        file.write('\n{"model": "claude-so')
    assert "messages" not in run.text(log)
    assert run.status == 2
    assert run.err == f"headstart explain: {log}:3: not JSON: Input data was truncated\n"
    Path(log).write_text('{"model": "claude-so')
    run.text(log)
    assert run.status == 2
    assert len(run.err.splitlines()) == 1
