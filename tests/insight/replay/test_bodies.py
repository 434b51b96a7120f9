import json
from pathlib import Path

import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from headstart.insight.replay.bodies import by_tokenizer, read_bodies
from headstart.insight.replay.fleet import Fleet
from headstart.insight.replay.pool import Setup
from headstart.insight.replay.replay import run
from headstart.insight.replay.request import Names, Request
from headstart.insight.replay.source import Reading, Trace

CHAT = {"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "a"}]}


def written(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_token_ids_are_taken_as_they_are(tmp_path: Path) -> None:
    rows = [{"tokens": [5, 6, 7], "output": [8, 9], "session": "s"}, {"body": {"prompt": [5, 6]}}]
    one, two = read_bodies(written(tmp_path / "b.jsonl", *rows))
    assert (list(one.blocks), list(one.answer), one.session) == ([5, 6, 7], [8], "s")
    assert (list(two.blocks), two.prompt_tokens, two.block_tokens) == ([5, 6], 2, 1)


def test_four_bytes_are_a_token_where_there_is_no_tokenizer(tmp_path: Path) -> None:
    (request,) = read_bodies(written(tmp_path / "b.jsonl", {"prompt": "abcdefghi"}))
    assert request.prompt_tokens == 3
    assert request.blocks[0] == int.from_bytes(b"abcd", "little")


def test_conversations_share_what_their_bodies_do(tmp_path: Path) -> None:
    longer = {"messages": [*CHAT["messages"], {"role": "assistant", "content": "b" * 80}]}
    one, two = read_bodies(written(tmp_path / "b.jsonl", CHAT, longer))
    whole = one.prompt_tokens - 1  # Its last token may hold bytes of the end.
    assert list(two.blocks[:whole]) == list(one.blocks[:whole])
    assert two.prompt_tokens >= one.prompt_tokens + 20


def test_tools_stand_before_the_messages(tmp_path: Path) -> None:
    tooled = CHAT | {"tools": [{"type": "function", "function": {"name": "f"}}]}
    one, two = read_bodies(written(tmp_path / "b.jsonl", CHAT, tooled))
    assert one.blocks[0] != two.blocks[0]


def test_a_tokenizer_of_your_own_says_the_ids(tmp_path: Path) -> None:
    tokenizer = Tokenizer(WordLevel({"one": 1, "two": 2}, unk_token="one"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    encode = by_tokenizer(tmp_path / "tokenizer.json")
    (request,) = read_bodies(written(tmp_path / "b.jsonl", {"prompt": "two one two"}), encode)
    assert list(request.blocks) == [2, 1, 2]


def test_of_a_prompt_of_tokens_all_but_the_last_can_be_reused_and_the_answer_is_found_later() -> (
    None
):
    def request(prompt: list[int], answer: list[int]) -> Request:
        return Request(0.0, None, None, None, prompt, len(prompt), len(answer), 1, answer)

    names = Names(2)
    first = names.named(request([1, 2, 3, 4], [5, 6, 7]))
    assert (len(first.blocks), len(first.answer), first.block_tokens) == (1, 2, 2)
    second = names.named(request([1, 2, 3, 4, 5, 6, 9], []))
    assert list(second.blocks) == [*first.blocks, *first.answer]


@pytest.mark.parametrize("wall", ["tenant", "salt", "adapter"])
def test_what_a_wall_divides_shares_nothing(tmp_path: Path, wall: str) -> None:
    ids = list(range(64))
    rows = [{"tokens": ids, wall: name} for name in ("a", "b", "a")] + [{"tokens": ids}]
    path = written(tmp_path / "b.jsonl", *rows)
    hits: list[int] = []
    fleet = Fleet([Setup("lru", 32, block_size=16)])
    run(read_bodies(path), [fleet], lambda _, __, tokens: hits.append(tokens))
    assert hits == [0, 0, 63, 0]
    named = [list(each.blocks) for each in map(Names(16).named, read_bodies(path))]
    assert named[2] == named[0]
    assert not set(named[0]) & set(named[1]) | set(named[1]) & set(named[3])


def test_sessions_of_two_tenants_may_have_one_name(tmp_path: Path) -> None:
    rows = [{"tokens": [1], "session": "s", "tenant": name} for name in ("a", "b")]
    one, two = read_bodies(written(tmp_path / "b.jsonl", *rows))
    assert one.session != two.session


def test_a_clients_hints_reach_the_policy(tmp_path: Path) -> None:
    row = {"tokens": [1, 2], "ended": True, "expected_gap": 3, "stop": "abort"}
    (request,) = read_bodies(written(tmp_path / "b.jsonl", row))
    assert (request.ended, request.expected_gap, request.stop) == (True, 3.0, "abort")


LOG = {"request_log": 1, "time": 1.5, "tokens": [1, 2, 3], "body": {"contents": []}}


def test_of_a_log_that_ends_within_a_line_the_whole_lines_are_read(tmp_path: Path) -> None:
    path = written(tmp_path / "log.jsonl", LOG, LOG)
    with path.open("a") as file:
        file.write('{"request_log": 1, "tok')
    trace = Trace([path], Reading())
    assert len(list(trace.requests())) == 2
    assert trace.notes == ["log.jsonl: its last line is cut short and left out."]
    assert trace.lengths == "measured"


def test_what_a_server_adds_to_its_log_meanwhile_is_not_read(tmp_path: Path) -> None:
    path = written(tmp_path / "log.jsonl", LOG)
    trace = Trace([path], Reading())
    with path.open("a") as file:
        file.write(json.dumps(LOG | {"tokens": [1] * 1000}) + "\n")
    assert [each.prompt_tokens for each in trace.requests()] == [3]
    assert trace.notes == []


def test_other_recordings_may_end_without_a_line_break(tmp_path: Path) -> None:
    path = tmp_path / "b.jsonl"
    path.write_text('{"tokens": [1, 2]}\n{"tokens": [1]}')
    assert [each.prompt_tokens for each in Trace([path], Reading()).requests()] == [2, 1]
