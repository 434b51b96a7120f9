import os
import subprocess
import sys

from headstart.insight.bench.machine import machine, resident_bytes


def test_the_memory_of_a_process_holds_what_it_touched() -> None:
    held = bytearray(os.urandom(64 * 2**20))
    after = resident_bytes(os.getpid())
    assert after is not None
    # Freed memory of earlier tests may be used again, so only what is there is sure.
    assert after >= len(held)


def test_the_memory_of_an_ended_process_is_unknown_waited_for_or_not() -> None:
    with subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.read()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert resident_bytes(process.pid) in (None, 0)
    assert resident_bytes(process.pid) is None


def test_the_facts_name_what_the_numbers_depend_on() -> None:
    facts = machine()
    assert facts.cores >= 1
    assert facts.memory_bytes > 2**28
    assert facts.cpu
    assert set(facts.packages) >= {"headstart", "httpx"}
