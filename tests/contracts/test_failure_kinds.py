"""Cases of the failure list (tests/failure_kinds) that the contracts alone decide."""

import random

import pytest
from tests.contracts.build import (
    SUFFIX,
    Part,
    Server,
    account,
    assistant,
    numbered,
    part,
    prompt,
    system,
    tool,
    user,
)

from headstart.contracts.anthropic import Anthropic
from headstart.contracts.contract import Refusal
from headstart.contracts.gemini import Gemini
from headstart.contracts.openai_breakpoints import OpenAIBreakpoints
from headstart.contracts.openai_interval import OpenAIInterval
from headstart.contracts.prompt import Prompt
from headstart.ledger import Rules

IDS = random.Random(20).choices(range(50_000), k=34_000)
RULES = Rules.packaged()


def refusal(asked: Prompt) -> Refusal:
    with pytest.raises(Refusal) as refused:
        Server(Anthropic(minimum=100)).plan(asked)
    assert refused.value.status == 400
    return refused.value


@pytest.fixture
def claude() -> Server:
    return Server(Anthropic(minimum=100))


def test_api_01_markers_are_counted_over_tools_system_and_messages(claude: Server) -> None:
    spread = [tool(mark=True), system(mark=True), user(mark=True), assistant(mark=True)]
    assert claude.plan(prompt(*spread, user(text="?"))).writes
    refused = refusal(prompt(*spread, user(text="?", mark=True)))
    assert "maximum of 4 blocks" in str(refused)
    assert "Found 5" in str(refused)


def test_api_04_an_hour_after_a_bare_marker_is_refused_with_its_path(claude: Server) -> None:
    refused = refusal(prompt(tool(mark=True), system(mark="1h"), user()))
    assert refused.path == "system.1.cache_control.ttl"
    assert claude.plan(prompt(tool(mark="1h"), system(mark="1h"), user(mark=True))).writes


@pytest.mark.parametrize("model", [*RULES.names("anthropic"), "claude-of-tomorrow"])
@pytest.mark.parametrize("offset", [-1, 0, 1])
def test_api_06_each_model_caches_from_its_own_minimum_on(model: str, offset: int) -> None:
    minimum = RULES.profile("anthropic", model).minimum
    server = Server(Anthropic(minimum=minimum))
    size = minimum + offset
    asked = prompt(system(size, mark=True), user(7))
    cached = size if offset >= 0 else 0
    first = server.ask(asked)
    assert (first.read, sum(first.written.values())) == (0, cached)
    second = server.ask(asked)
    assert (second.read, sum(second.written.values())) == (cached, 0)


@pytest.mark.parametrize(("added", "read"), [(18, 1000), (19, 1000), (20, 0), (21, 0)])
def test_api_07_an_entry_is_found_19_blocks_behind_the_marker_and_not_20(
    claude: Server, added: int, read: int
) -> None:
    """The marker's own position is the first of the 20 (rule A3)."""
    claude.ask(prompt(*numbered(10, marks=[10])))
    assert claude.ask(prompt(*numbered(10 + added, marks=[10 + added]))).read == read


@pytest.mark.parametrize(("marks", "read"), [([1, 360], 100), ([1, 280, 360], 28_000)])
def test_api_09_behind_a_change_only_what_was_marked_before_it_is_left(
    claude: Server, marks: list[int], read: int
) -> None:
    blocks = numbered(360, marks=marks)
    claude.ask(prompt(*blocks))
    changed = [*blocks[:299], part("assistant", 100, "edited"), *blocks[300:]]
    assert claude.ask(prompt(*changed)).read == read


def test_api_10_a_marker_on_an_empty_text_is_refused_and_one_before_it_is_not(
    claude: Server,
) -> None:
    """There is no client of ours that could move it; the automatic marker moves by itself."""
    picture, empty = user(300, "picture"), user(0, markable=False)
    refused = refusal(prompt(picture, user(0, mark=True, markable=False)))
    assert "cannot be set for empty text blocks" in str(refused)
    claude.ask(prompt(picture, empty, automatic=True))
    assert claude.ask(prompt(user(300, "picture", mark=True), empty)).read == 300


@pytest.mark.parametrize(
    ("tokens", "cached"),
    [(1023, 0), (1024, 1024), (1151, 1024), (1152, 1152), (1181, 1152), (1280, 1280)],
)
def test_api_19_the_older_models_read_the_floor_of_steps_of_128_above_1024(
    tokens: int, cached: int
) -> None:
    server = Server(OpenAIInterval())
    asked = prompt(ids=IDS[:tokens])
    assert [server.ask(asked, reused=tokens).read for _ in range(2)] == [0, cached]


@pytest.mark.parametrize("length", range(2100, 32_800, 1533))
def test_api_20_implicit_caching_hits_at_every_length_and_every_time(length: int) -> None:
    """No dead zone: all of the shared prefix but less than one step of 128."""
    server = Server(Gemini(minimum=2048))
    reads = [
        server.ask(prompt(ids=[*IDS[:length], *[50_001 + call] * 40]), reused=length).read
        for call in range(12)
    ]
    assert reads == [0] + [length - length % 128] * 11


def test_acct_10_the_two_lifetimes_of_a_write_are_counted_apart(claude: Server) -> None:
    asked = prompt(tool(3904, mark="1h"), user(1000, mark="5m"), user(7))
    assert account(claude.ask(asked)) == (0, {"1h": 3904, "5m": 1000}, 7 + SUFFIX)


@pytest.mark.parametrize("later", [0.0, 2.0])
def test_acct_18_what_is_marked_is_written_once_and_read_from_then_on(
    claude: Server, later: float
) -> None:
    asked = prompt(tool(mark="1h"), system(mark=True), user(7))
    answers = [account(claude.ask(asked, now=later * number)) for number in range(3)]
    written = (0, {"1h": 100, "5m": 100}, 7 + SUFFIX)
    assert answers == [written] + [(200, {}, 7 + SUFFIX)] * 2


def toolset(count: int) -> list[Part]:
    tools = [tool(text=f"tool {number}") for number in range(count)]
    return [*tools[:-1], tool(text=f"tool {count - 1}", mark=True)]


def test_stab_08_a_changed_list_of_tools_loses_all_behind_it_and_its_return_nothing(
    claude: Server,
) -> None:
    """3 tools, 5, 3 again; the marker stands on the last of them, and in the message."""
    three, five = (prompt(*toolset(count), user(500, mark=True)) for count in (3, 5))
    assert claude.ask(three).read == 0
    assert claude.ask(five).read == 300
    assert claude.ask(three).read == 800


def test_stab_12_another_effort_breaks_the_prefix_says_so_and_the_first_is_still_there() -> None:
    contract = OpenAIBreakpoints(minimum=100)
    server = Server(contract)
    default, high = (
        prompt(user(42_000), settings=settings) for settings in ({}, {"reasoning.effort": '"high"'})
    )
    server.ask(default)
    assert server.ask(high).read == 0
    found = contract.diagnose(default, high, 0)
    assert found is not None
    assert found.reason == "reasoning_effort_changed"
    assert server.ask(default).read == 42_000
