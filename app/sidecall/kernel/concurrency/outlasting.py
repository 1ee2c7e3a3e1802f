"""Await work that continues even if its waiter is cancelled."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def outlast(work: "asyncio.Future[T] | Coroutine[Any, Any, T]") -> "asyncio.Future[T]":
    """Return an awaitable for the work; cancelling it does not stop the work.

    An error is raised in the waiter that is still there, if any.
    """
    future = asyncio.ensure_future(work)
    future.add_done_callback(read_error)
    return asyncio.shield(future)


def read_error(work: asyncio.Future[Any]) -> None:
    """Mark the error as retrieved, so that asyncio does not log it."""
    if not work.cancelled():
        work.exception()
