import pytest

from headstart.insight.bench.prompts import FIRST_ID, LAST_ID, PromptSource, as_words


def test_no_two_runs_share_even_their_first_token() -> None:
    source = PromptSource(1)
    runs = [source.fresh(3) for _ in range(5000)]
    assert len({run[0] for run in runs}) == 5000


@pytest.mark.parametrize("length", [1, 2, 50, 7000])
def test_a_run_has_the_length_asked_and_safe_ids(length: int) -> None:
    run = PromptSource(2).fresh(length)
    assert len(run) == length
    assert all(FIRST_ID <= token <= LAST_ID for token in run)


def test_a_seed_repeats_its_prompts_and_another_does_not() -> None:
    assert PromptSource(3).fresh(50) == PromptSource(3).fresh(50)
    assert PromptSource(3).fresh(50) != PromptSource(4).fresh(50)


def test_words_keep_common_prefixes_and_the_number_of_items() -> None:
    source = PromptSource(5)
    prefix = source.fresh(40)
    one, two = as_words(prefix + source.fresh(10)), as_words(prefix + source.fresh(10))
    assert one.startswith(as_words(prefix) + " ")
    assert two.startswith(as_words(prefix) + " ")
    assert one != two
    assert len(one.split(" ")) == 50
