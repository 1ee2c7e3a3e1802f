"""A person elsewhere, who decides about calls while a framework waits."""

import contextlib
import inspect
import os
import threading
from collections.abc import Callable, Iterator
from typing import Any

from sidecall.client import Sidecall

# Of which orders a refund is approved, and rejected; other calls of the shared server wait for ever.
APPROVED, REJECTED = 71, 72
WHY = "Ask for a receipt first."


def wait_for_person(work: Callable[[int], Any]) -> list[str]:
    """Return what comes of two calls, each of which waits for a person.

    Args:
        work: Lets the framework call `refund` for an order.
    """
    with _decide():
        return [str(work(order)) for order in (APPROVED, REJECTED)]


async def await_person(work: Callable[[int], Any]) -> list[str]:
    """Do the same on an event loop."""
    with _decide():
        return [str(await _finish(work(order))) for order in (APPROVED, REJECTED)]


async def _finish(said: Any) -> Any:
    return await said if inspect.isawaitable(said) else said


@contextlib.contextmanager
def _decide() -> Iterator[None]:
    ended = threading.Event()
    person = threading.Thread(target=_decide_all, args=(ended,))
    person.start()
    try:
        yield
    finally:
        ended.set()
        person.join()


def _decide_all(ended: threading.Event) -> None:
    with Sidecall(os.environ["SIDECALL_URL"]) as server:
        while not ended.wait(0.05):
            for approval in server.approvals.list():
                order = approval.tool_call["args"].get("order")
                if order == APPROVED:
                    server.approvals.approve(approval.id)
                if order == REJECTED:
                    server.approvals.reject(approval.id, WHY)
