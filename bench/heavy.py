"""Tools of a module whose import takes a second, as that of two SDKs; `BENCH_EXECUTOR` says where they run."""

import os
import time
from typing import Literal, cast

from sidecall import tool

_EXECUTOR = cast("Literal['thread', 'process']", os.environ.get("BENCH_EXECUTOR", "thread"))
_SECOND = 1.0
_begun = time.process_time()
# What is imported stays: here as many objects as 40 MB hold.
_KEPT = [str(number) for number in range(500_000)]
while time.process_time() - _begun < _SECOND:
    pass
_TOOK = time.process_time() - _begun


@tool(executor=_EXECUTOR)
def echo(text: str) -> str:
    """Return the text unchanged.

    Args:
        text: Anything.
    """
    return text


@tool(executor=_EXECUTOR)
def took() -> str:
    """Return how long the import took, in seconds."""
    return str(_TOOK)


@tool(executor=_EXECUTOR, timeout=0.3)
def hang() -> str:
    """Take longer than the deadline."""
    time.sleep(30)
    return "done"
