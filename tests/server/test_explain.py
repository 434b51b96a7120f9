"""`GET /cache/explain/{request_id}`: whose report, and what it says."""

from pathlib import Path
from typing import Any

import pytest

from headstart.text.chat import Conversation, Message


@pytest.fixture(scope="module")
def walled(start_real: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    path: Path = tmp_path_factory.mktemp("keys") / "keys"
    path.write_text("ka alice\nka2 alice\nkb bob\n")
    return start_real(api_key="op", api_keys_file=str(path))


def say(live: Any, *contents: str, key: str = "anything", **fields: Any) -> Any:
    """A conversation that begins with the system's message."""
    roles = ["system", *["user", "assistant"] * len(contents)]
    messages: Any = [
        {"role": role, "content": text} for role, text in zip(roles, contents, strict=False)
    ]
    return live.client(key).chat.completions.create(
        model="tiny", messages=messages, max_tokens=1, temperature=0, **fields
    )


def explain(live: Any, request_id: str, key: str = "anything", query: str = "") -> Any:
    response = live.get(f"/cache/explain/{request_id}{query}", key)
    assert response.status_code == 200, response.text
    return response.json()


SYSTEM = "You are a helpful assistant. Answer the question in one short sentence."
TURNS = ("What is a cache?", "What was computed before.", "And a token?", "A piece.", "Thanks!")


@pytest.mark.parametrize("changed", range(6))
def test_the_message_is_the_one_that_changed(live: Any, changed: int) -> None:
    salt: Any = {"cache_salt": f"message {changed}"}
    first = [SYSTEM, *TURNS]
    other = list(first)
    other[changed] = other[changed].replace(" ", " really ", 1) + " ... now"
    say(live, *first, extra_body=salt)
    answer = say(live, *other, extra_body=salt)
    report = explain(live, answer.id)
    assert report["message"] == changed
    assert report["reason"] == "diverged"
    assert report["at"] == report["cached_tokens"]
    assert report["cached_tokens"] == answer.usage.prompt_tokens_details.cached_tokens


def test_the_first_request_of_all_misses_in_its_first_message(start_real: Any) -> None:
    live = start_real()
    answer = say(live, SYSTEM, "Hi!")
    report = explain(live, answer.id)
    assert report["id"] == answer.id
    assert report["prompt_tokens"] == answer.usage.prompt_tokens
    assert (report["cached_tokens"], report["reason"], report["at"]) == (0, "never_seen", 0)
    assert (report["lost"], report["fields"]) == (None, [])
    assert (report["message"], report["text"]) == (0, None)


def test_a_new_turn_goes_on_from_the_answers_last_token_which_was_never_computed(
    live: Any,
) -> None:
    salt: Any = {"cache_salt": "new turn"}
    first = say(live, SYSTEM, TURNS[0], extra_body=salt)
    answer = say(
        live, SYSTEM, TURNS[0], first.choices[0].message.content, TURNS[2], extra_body=salt
    )
    report = explain(live, answer.id)
    assert report["message"] == 2
    assert report["reason"] == "never_seen"
    assert report["cached_tokens"] == first.usage.total_tokens - 1


def test_a_prompt_that_is_all_there_leaves_it_in_no_message(live: Any) -> None:
    salt: Any = {"cache_salt": "all there"}
    for _ in range(2):
        answer = say(live, SYSTEM, "Hi!", extra_body=salt)
    report = explain(live, answer.id)
    assert (report["reason"], report["message"]) == ("capped", None)
    assert report["at"] == report["cached_tokens"] == report["prompt_tokens"] - 1


def test_the_operator_who_asks_sees_the_text_on_both_sides(live: Any) -> None:
    salt: Any = {"cache_salt": "text"}
    say(live, SYSTEM, "What is red?", extra_body=salt)
    answer = say(live, SYSTEM, "What is blue and green?", extra_body=salt)
    assert explain(live, answer.id)["text"] is None
    assert explain(live, answer.id, query="?text=0")["text"] is None
    text = explain(live, answer.id, query="?text=1")["text"]
    whole = live.codec.render(
        Conversation((Message("system", SYSTEM), Message("user", "What is blue and green?")))
    )
    assert whole.endswith(text["before"] + text["prompt"])
    assert text["before"].endswith("What is ")
    assert text["cached"].startswith("red?<|im_end|>")


def test_a_tenant_sees_its_own_reports_and_no_other(walled: Any) -> None:
    answer = say(walled, SYSTEM, "A secret of Alice.", key="ka")
    path = f"/cache/explain/{answer.id}"
    assert explain(walled, answer.id, "ka")["id"] == answer.id
    assert explain(walled, answer.id, "ka2")["id"] == answer.id
    assert explain(walled, answer.id, "op")["id"] == answer.id
    hidden = walled.get(path, "kb")
    unknown = walled.get(path[:-4] + "0000", "kb")
    assert hidden.status_code == unknown.status_code == 404
    error = hidden.json()["error"]
    assert (error["type"], error["code"]) == ("invalid_request_error", "report_not_found")
    # Nothing tells a report of others from none at all.
    assert hidden.text == unknown.text.replace(answer.id[:-4] + "0000", answer.id)


def test_text_is_for_the_operator_only(walled: Any) -> None:
    answer = say(walled, SYSTEM, "A secret of Alice.", key="ka")
    assert explain(walled, answer.id, "ka", "?text=1")["text"] is None
    assert explain(walled, answer.id, "op", "?text=1")["text"]["prompt"]


@pytest.mark.parametrize("name", ["chatcmpl-nope", "nope", "%00", "a%20b", "x" * 3000])
def test_an_unknown_id_is_404(live: Any, name: str) -> None:
    response = live.get(f"/cache/explain/{name}")
    assert response.status_code == 404
    assert response.json()["error"]["code"] == "report_not_found"


def test_every_prompt_of_a_completion_has_a_report(live: Any) -> None:
    prompts = [[5 + n, *range(40, 70 + n)] for n in range(3)]
    answer = live.client().completions.create(model="tiny", prompt=prompts, max_tokens=1)
    assert answer.id.startswith("cmpl-")
    for index, prompt in enumerate(prompts):
        report = explain(live, f"{answer.id}-{index}")
        assert (report["prompt_tokens"], report["message"]) == (len(prompt), None)
    assert live.get(f"/cache/explain/{answer.id}-3").status_code == 404


def test_the_id_of_an_answer_is_enough_for_its_first_prompt(live: Any) -> None:
    answer = live.client().completions.create(model="tiny", prompt="Only one.", max_tokens=1)
    assert explain(live, answer.id) == explain(live, f"{answer.id}-0")


def test_a_stream_has_a_report_as_soon_as_it_begins(live: Any, words: Any) -> None:
    stream = live.client().chat.completions.create(
        model="tiny",
        messages=words("begun", 10),
        max_tokens=300,
        stream=True,
        extra_body={"ignore_eos": True},
    )
    first = next(iter(stream))
    report = explain(live, first.id)
    stream.close()
    assert report["reason"] in {"never_seen", "diverged"}
