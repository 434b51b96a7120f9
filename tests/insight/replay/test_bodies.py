import json
from pathlib import Path

from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from headstart.insight.replay.bodies import by_tokenizer, read_bodies
from headstart.insight.replay.request import Names, Request

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
