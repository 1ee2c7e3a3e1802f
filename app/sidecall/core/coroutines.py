"""Take coroutines over that have begun, and end them."""

import asyncio
import types
from collections.abc import Coroutine, Generator
from contextvars import Context
from typing import Any, TypeVar

T = TypeVar("T")


@types.coroutine
def await_rest(coroutine: Coroutine[Any, Any, T], awaited: Any) -> Generator[Any, Any, T]:
    """Await the rest of a coroutine whose last step came to wait for `awaited`."""
    # No error outlives its `except` in a variable here: its traceback would hold the variable, and so itself.
    try:
        while True:
            try:
                sent = yield awaited
            except GeneratorExit:
                coroutine.close()
                raise
            except BaseException as error:
                awaited = coroutine.throw(error)
            else:
                awaited = coroutine.send(sent)
    except StopIteration as done:
        result: T = done.value
        return result


def cancel_from_outside(task: "asyncio.Future[Any]") -> None:
    """Cancel a task for a reason that lies outside of what it runs, whose own tasks and timers may do the same.

    They are told apart by their context variables, which reach everywhere, so here there are none.
    """
    Context().run(task.cancel)
