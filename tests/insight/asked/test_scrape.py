"""Scrapes in Prometheus' text format, with the names that vLLM, SGLang and headstart give."""

from pathlib import Path

import pytest

from headstart.insight.asked.errors import Unreadable
from headstart.insight.asked.scrape import Scrape, is_scrape, read_scrape

VLLM = """\
# HELP vllm:prefix_cache_queries_total Prefix cache queries, in terms of number of queried tokens.
# TYPE vllm:prefix_cache_queries_total counter
vllm:prefix_cache_queries_total{engine="0",model_name="m"} 8000.0
vllm:prefix_cache_queries_total{engine="1",model_name="m"} 2000.0
vllm:prefix_cache_queries_created{engine="0",model_name="m"} 1.79e+09
vllm:prefix_cache_hits_total{engine="0",model_name="m"} 6.0e+03
vllm:prefix_cache_hits_total{engine="1",model_name="m"} 1000.0
vllm:generation_tokens_total{engine="0",model_name="m"} 500.0
vllm:num_preemptions_total{engine="0",model_name="m"} 3.0
vllm:num_requests_running{engine="0",model_name="m"} 4.0
vllm:num_requests_running{engine="1",model_name="m"} 5.0
vllm:kv_cache_usage_perc{engine="0",model_name="m"} 0.5
vllm:kv_cache_usage_perc{engine="1",model_name="m"} 0.7
"""
OLD_VLLM = """\
# TYPE vllm:gpu_prefix_cache_queries counter
vllm:gpu_prefix_cache_queries{model_name="m"} 1000.0
vllm:gpu_prefix_cache_hits{model_name="m"} 480.0
vllm:gpu_cache_usage_perc{model_name="m"} 0.25
"""
OLDEST_VLLM = """\
vllm:gpu_prefix_cache_hit_rate{model_name="m"} 0.91
vllm:cpu_prefix_cache_hit_rate{model_name="m"} -1.0
"""
SGLANG = """\
# HELP sglang:prompt_tokens_total Number of prefill tokens processed.
# TYPE sglang:prompt_tokens_total counter
sglang:prompt_tokens_total{model_name="m"} 8.128902e+06
sglang:cached_tokens_total{cache_source="device",model_name="m"} 1.0e+06
sglang:cached_tokens_total{cache_source="host",model_name="m"} 2.0e+06
sglang:generation_tokens_total{model_name="m"} 7.557572e+06
sglang:cache_hit_rate{model_name="m"} 0.0075
sglang:token_usage{model_name="m"} 0.28
"""
HEADSTART = """\
headstart_prompt_tokens_total 100.0
headstart_cached_tokens_total 60.0
headstart_generated_tokens_total 9.0
headstart_evicted_blocks_total 2.0
headstart_preemptions_total 0.0
headstart_running_requests 1.0
"""


def scrape(tmp_path: Path, text: str) -> Scrape:
    path = tmp_path / "metrics.prom"
    path.write_text(text)
    return read_scrape(path)


def test_vllms_counters_are_tokens_and_add_up_over_its_engines(tmp_path: Path) -> None:
    found = scrape(tmp_path, VLLM)
    assert found == Scrape("vLLM", 10_000, 7_000, 500, 3, None, 9.0, pytest.approx(0.6), None)
    assert found.hit_rate == 0.7


def test_vllms_old_names_are_known(tmp_path: Path) -> None:
    found = scrape(tmp_path, OLD_VLLM)
    assert (found.prompt, found.cached, found.filled) == (1000, 480, 0.25)


def test_a_rate_that_a_server_states_is_a_claim_and_no_count(tmp_path: Path) -> None:
    found = scrape(tmp_path, OLDEST_VLLM)
    assert (found.claimed, found.hit_rate, found.cached) == (0.91, None, None)
    nothing = scrape(tmp_path, "vllm:gpu_prefix_cache_hit_rate -1.0\n")
    assert nothing.claimed is None


def test_what_a_connector_brought_is_read_too(tmp_path: Path) -> None:
    found = scrape(tmp_path, VLLM + "vllm:external_prefix_cache_hits_total 500\n")
    assert found.cached == 7_500


def test_sglangs_sources_add_up(tmp_path: Path) -> None:
    found = scrape(tmp_path, SGLANG)
    assert (found.engine, found.prompt, found.cached) == ("SGLang", 8_128_902, 3_000_000)
    assert found.claimed == 0.0075


def test_ours_are_known(tmp_path: Path) -> None:
    assert scrape(tmp_path, HEADSTART) == Scrape("headstart", 100, 60, 9, 0, 2, 1.0)


def test_the_difference_of_two_scrapes_is_what_happened_between() -> None:
    before = Scrape("vLLM", 10_000, 9_000, 5, 1)
    after = Scrape("vLLM", 12_000, 9_100, 9, 1, running=3.0)
    assert after.since(before) == Scrape("vLLM", 2_000, 100, 4, 0, running=3.0)
    assert after.since(before).hit_rate == 0.05


def test_after_a_restart_the_later_scrape_stands_alone() -> None:
    before, after = Scrape("vLLM", 10_000, 9_000), Scrape("vLLM", 500, 100)
    assert after.since(before) == after


@pytest.mark.parametrize("text", [VLLM, SGLANG, HEADSTART, OLDEST_VLLM])
def test_a_scrape_is_told_by_how_it_begins(text: str) -> None:
    assert is_scrape(text.encode())


@pytest.mark.parametrize("text", ['{"a": 1}', "[1]", "", "SQLite format 3\0", "\x1f\x8b"])
def test_other_files_are_none(text: str) -> None:
    assert not is_scrape(text.encode("latin-1"))


def test_other_programs_metrics_are_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match=r"metrics\.prom: no metrics of vLLM, SGLang"):
        scrape(tmp_path, "go_threads 9\n")
