"""Wait for work that goes on though nobody waits for it any more."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def outlast(work: "asyncio.Future[T] | Coroutine[Any, Any, T]") -> "asyncio.Future[T]":
    """Return what can be awaited and cancelled while the work goes on; its error is told to whoever still waits."""
    future = asyncio.ensure_future(work)
    future.add_done_callback(read_error)
    return asyncio.shield(future)


def read_error(work: "asyncio.Future[Any]") -> None:
    """Keep asyncio from complaining of an error that nobody waited for."""
    if not work.cancelled():
        work.exception()
