"""`GET /cache/tree`: what is findable, for whoever may see it."""

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="module")
def walled(start_real: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    path: Path = tmp_path_factory.mktemp("keys") / "keys"
    path.write_text("ka alice\nkb bob\n")
    live = start_real(api_key="op", api_keys_file=str(path))
    shared = list(range(10, 58))
    for key, ends in (("ka", (60, 70, 80)), ("kb", (60,)), ("op", (90,))):
        for end in ends:
            complete(live, [*shared, *range(end, end + 16)], key)
    return live


def complete(live: Any, prompt: list[int], key: str = "anything", **fields: Any) -> Any:
    return live.client(key).completions.create(
        model="tiny", prompt=prompt, max_tokens=1, extra_body=fields
    )


def tree(live: Any, key: str = "anything", query: str = "") -> list[dict[str, Any]]:
    response = live.get(f"/cache/tree{query}", key)
    assert response.status_code == 200, response.text
    nodes = response.json()["nodes"]
    assert isinstance(nodes, list)
    return nodes


def test_a_tenant_sees_its_own_nodes_and_the_operator_all(walled: Any) -> None:
    assert {node["tenant"] for node in tree(walled, "ka")} == {"alice"}
    assert {node["tenant"] for node in tree(walled, "kb")} == {"bob"}
    everything = tree(walled, "op")
    assert {node["tenant"] for node in everything} == {"", "alice", "bob"}
    own = sum(len(tree(walled, key)) for key in ("ka", "kb"))
    assert sum(node["tenant"] != "" for node in everything) == own


def test_what_others_keep_shows_in_no_number_of_a_tenants_tree(walled: Any) -> None:
    """Ids count the caller's nodes only, else gaps would tell how many others have."""
    assert [node["id"] for node in tree(walled, "kb")] == list(range(len(tree(walled, "kb"))))


def test_a_shared_beginning_is_one_node_and_every_end_another(walled: Any) -> None:
    nodes = tree(walled, "ka")
    trunk, *ends = [node for node in nodes if node["tokens"]]
    assert (trunk["begin"], trunk["tokens"]) == (0, 48)
    assert [(node["begin"], node["tokens"], node["parent"]) for node in ends] == [
        (48, 16, trunk["id"])
    ] * 3
    assert trunk["subtree_tokens"] == 48 + 3 * 16
    assert trunk["uses"] == 2


def test_sums_hold_and_parents_come_first(live: Any) -> None:
    for end in range(6):
        complete(live, [*range(100, 140 + end), *range(200 - end, 230)])
    nodes = {node["id"]: node for node in tree(live, query="?nodes=100000")}
    below = dict.fromkeys(nodes, 0)
    for number, node in nodes.items():
        assert node["idle_seconds"] >= 0
        if node["parent"] is not None:
            parent = nodes[node["parent"]]
            assert node["parent"] < number
            assert node["begin"] == parent["begin"] + parent["tokens"]
            below[node["parent"]] += node["subtree_tokens"]
    assert all(n["subtree_tokens"] == n["tokens"] + below[i] for i, n in nodes.items())
    cached = live.engine.stats().cache.cached_free_tokens
    blocks = sum(-(-node["tokens"] // 16) for node in nodes.values())
    assert blocks * 16 == cached


def test_it_holds_at_most_the_nodes_that_were_asked_for_the_largest_first(live: Any) -> None:
    for end in range(4):
        complete(live, [*range(150, 182), *range(10 + 20 * end, 26 + 20 * end)])
    everything = tree(live, query="?nodes=100000")
    few = tree(live, query="?nodes=2")
    assert len(few) == 2
    sizes = sorted((node["subtree_tokens"] for node in everything), reverse=True)
    assert sorted((node["subtree_tokens"] for node in few), reverse=True) == sizes[:2]


@pytest.mark.parametrize("asked", ["0", "-1", "100001", "many", "", "1.5", "٣", "9" * 5000])
def test_a_number_of_nodes_that_is_none_is_refused_by_name(live: Any, asked: str) -> None:
    response = live.get(f"/cache/tree?nodes={asked}")
    assert response.status_code == 400
    assert response.json()["error"]["param"] == "nodes"


def test_it_holds_no_text_and_no_token(walled: Any) -> None:
    assert set(tree(walled, "ka")[0]) == {
        "id",
        "parent",
        "tenant",
        "begin",
        "tokens",
        "subtree_tokens",
        "uses",
        "idle_seconds",
        "held",
        "pinned",
    }


def test_a_pinned_path_is_marked_and_a_running_one_held(start_real: Any) -> None:
    live = start_real()
    prompt = list(range(10, 42))
    complete(live, prompt)
    complete(live, prompt[::-1])
    live.post("/cache/pin", tokens=prompt)
    (pinned,) = (node for node in tree(live) if node["pinned"])
    assert (pinned["tokens"], pinned["held"]) == (32, False)
    stream = live.client(strict=False).completions.create(
        model="tiny", prompt=prompt, max_tokens=900, stream=True, extra_body={"ignore_eos": True}
    )
    next(iter(stream))
    held = [node for node in tree(live) if node["held"] and node["tokens"]]
    stream.close()
    assert held[0]["begin"] == 0
    assert all(node["idle_seconds"] == 0 for node in held)
    assert len(held) < len(tree(live))


def test_an_empty_cache_is_an_empty_tree(start_real: Any) -> None:
    live = start_real()
    assert [node for node in tree(live) if node["tokens"]] == []
