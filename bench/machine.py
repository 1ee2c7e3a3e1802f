"""The machine of the figures, and the use of its cores."""

import os
import platform
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

PACKAGES = ("uvicorn", "uvloop", "httptools", "starlette", "fastapi", "pydantic", "pydantic_core")


@dataclass(frozen=True)
class Cores:
    """Keep the server and the load generator out of each other's way; `allowed` are all that this process may have."""

    server: int | None
    load: int | None
    allowed: frozenset[int] = frozenset()

    def pinned(self, command: tuple[str, ...]) -> list[str]:
        """Return the command that runs a server on its core."""
        return list(command) if self.server is None else ["taskset", "--cpu-list", str(self.server), *command]

    @contextmanager
    def shared(self) -> Iterator["Cores"]:
        """Give all cores to servers, their children and the load, for cases with several processes."""
        if self.load is None:
            yield self
            return
        os.sched_setaffinity(0, self.allowed)
        try:
            yield Cores(None, None)
        finally:
            os.sched_setaffinity(0, {self.load})


def take_cores() -> Cores:
    """Give the server the first core, and this process with all that it starts the last."""
    if not hasattr(os, "sched_setaffinity") or shutil.which("taskset") is None:
        return Cores(None, None)
    allowed = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {allowed[-1]})
    return Cores(allowed[0], allowed[-1], frozenset(allowed))


def raise_file_limit() -> int:
    """Allow as many open files as this user may have, for this process and its children; returns how many."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


def describe(cores: Cores) -> dict[str, str]:
    """Describe this machine without naming it."""
    return {
        "processor": f"{_processor()}, {os.cpu_count()} cores",
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB",
        "system": f"{platform.system()} {'.'.join(platform.release().split('.')[:2])}",
        "cores": "not pinned" if cores.server is None else f"server on {cores.server}, load on {cores.load}",
        "python": platform.python_version(),
        **{name: version(name) for name in PACKAGES},
        "wrk": _wrk(),
    }


def _processor() -> str:
    listing = Path("/proc/cpuinfo")
    found = re.search(r"^model name\s*:\s*(.+)$", listing.read_text(), re.MULTILINE) if listing.exists() else None
    return found[1].strip() if found else platform.machine() or sys.platform


def _wrk() -> str:
    if shutil.which("wrk") is None:
        return "missing"
    said = subprocess.run(["wrk", "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"\d+\.\d+\.\d+", said)
    return found[0] if found else "unknown"
