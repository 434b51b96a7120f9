"""Facts about the machine, without which a number means nothing."""

import os
import platform
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("headstart", "httpx", "torch")


@dataclass(frozen=True, slots=True)
class Machine:
    """Of the machine the benchmark runs on; a remote endpoint's may differ."""

    cpu: str
    cores: int
    """Usable by this process."""
    memory_bytes: int
    system: str
    python: str
    packages: dict[str, str]

    def __str__(self) -> str:
        gib = self.memory_bytes / 2**30
        packages = ", ".join(f"{name} {number}" for name, number in self.packages.items())
        return (
            f"{self.cpu}, {self.cores} cores, {gib:.0f} GiB, {self.system},"
            f" Python {self.python}, {packages}"
        )


def machine() -> Machine:
    """Look around."""
    return Machine(
        cpu=_cpu(),
        cores=_cores(),
        memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        system=platform.platform(),
        python=platform.python_version(),
        packages=dict(filter(None, map(_package, PACKAGES))),
    )


def load_average() -> float:
    """Of the last minute. Above the number of cores, others took time from the measurement."""
    return round(os.getloadavg()[0], 2)


def resident_bytes(pid: int) -> int:
    """Memory that the process holds in RAM: by the kernel's own word on Linux, else by `ps`."""
    status = Path(f"/proc/{pid}/status")
    if status.exists():
        return int(status.read_text().partition("VmRSS:")[2].split()[0]) * 1024
    command = ["ps", "-o", "rss=", "-p", str(pid)]
    return int(subprocess.run(command, capture_output=True, check=True).stdout) * 1024


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()


def _cores() -> int:
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _package(name: str) -> tuple[str, str] | None:
    try:
        return name, version(name)
    except PackageNotFoundError:
        return None
