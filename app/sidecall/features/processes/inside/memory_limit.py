"""Bound the memory of a tool process during a call (`RLIMIT_DATA`), and disable its core dumps."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import resource
except ImportError:  # Not a Unix, where no tool runs in a process.
    resource = None  # type: ignore[assignment]

_STATM = Path("/proc/self/statm")
# Which of its numbers counts the pages that a process can write to.
_WRITABLE = 5


def writable_bytes() -> int:
    """Return how much memory this process can write to, touched or not; 0 if the system does not report it."""
    if sys.platform != "linux":
        return 0
    return int(_STATM.read_text().split()[_WRITABLE]) * resource.getpagesize()


@contextmanager
def bounded_memory(most: int) -> Iterator[None]:
    """Make allocations in the body fail with MemoryError once this process has `most` writable bytes.

    Only Linux counts these: thread stacks count, merely reserved address space does not. Other systems have no bound.
    """
    if sys.platform != "linux":
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (_cap(most, hard), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def leave_no_core() -> None:
    """Disable core dumps, which would contain callers' data."""
    if resource is not None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _cap(most: int, hard: int) -> int:
    return most if hard == resource.RLIM_INFINITY else min(most, hard)
