"""Tools that return, and raise, the worst that Python knows."""

import itertools
from collections.abc import Iterator
from typing import Any, Literal

from sidecall import Registry, tool
from trials.served.failures import FAILURES
from trials.served.results import RESULTS

_MB = 1024 * 1024
_EXECUTORS: tuple[Literal["inline", "thread", "process"], ...] = ("inline", "thread", "process")


@tool
def long_text(megabytes: int) -> str:
    """Return a text."""
    return "x" * megabytes * _MB


@tool(response_format="content_and_artifact")
def large_artifact(megabytes: int) -> tuple[str, Any]:
    """Return a large artifact beside a short content."""
    return "see the artifact", ["x" * 1024] * 1024 * megabytes


@tool(executor="process")
def large_structure(megabytes: int) -> list[int]:
    """Return many numbers from a process, nine bytes of JSON each."""
    return list(range(10**6, 10**6 + megabytes * _MB // 9))


@tool(executor="process", response_format="content_and_artifact")
def large_artifact_apart(megabytes: int) -> tuple[str, Any]:
    """Return many numbers from a process, beside a short content."""
    return "see the artifact", list(range(10**6, 10**6 + megabytes * _MB // 9))


@tool(timeout=1)
def endless_parts() -> Iterator[str]:
    """Yield parts for ever."""
    yield from itertools.repeat("x" * 100)


@tool(timeout=1, executor="process")
def endless_parts_apart() -> Iterator[str]:
    """Yield parts for ever, from a process."""
    yield from itertools.repeat("x" * 100)


@tool(timeout=1)
def endless_series() -> Any:
    """Return an iterator that does not end."""
    return itertools.repeat(1)


worst = Registry(
    [
        tool(f"{function.__name__}_{executor}", executor=executor)(function)
        for function in (*RESULTS, *FAILURES)
        for executor in _EXECUTORS
    ]
)
