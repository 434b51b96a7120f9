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


def resident_bytes(pid: int) -> int | None:
    """Memory that the process holds in RAM, by the kernel's word on Linux, else by `ps`.

    None if the process has ended.
    """
    if sys.platform == "linux":
        return _resident_linux(Path(f"/proc/{pid}/status"))
    command = ["ps", "-o", "rss=", "-p", str(pid)]
    kib = subprocess.run(command, capture_output=True, check=False).stdout.strip()
    return int(kib) * 1024 if kib else None


def _resident_linux(status: Path) -> int | None:
    try:
        _, found, rest = status.read_text().partition("VmRSS:")
    except FileNotFoundError:
        return None
    # An ended process that nobody has waited for still has a status, without this line.
    return int(rest.split()[0]) * 1024 if found else None


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
