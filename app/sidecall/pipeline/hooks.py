"""Call what authors put around their tools, so that nothing it does harms the call."""

import asyncio
import inspect
from collections.abc import Callable, Coroutine
from typing import Any

from sidecall.core.invocation import Invocation
from sidecall.executors.tasks import enter, leave
from sidecall.pipeline.execution.bounded import DeadlinePassed, within
from sidecall.pipeline.execution.deadline import seconds_left

# Seconds after which a call goes on without a function that hangs.
PATIENCE = 5.0


def patience(invocation: Invocation) -> float:
    """Return the seconds that a function before the tool may take: not past the call's deadline."""
    left = seconds_left(invocation)
    return PATIENCE if left is None else min(PATIENCE, left)


class HookFailed(Exception):
    """Code around a tool crashed or hung; the cause says how."""


async def call_hook(function: Callable[..., Any], *args: Any, patience: float = PATIENCE) -> Any:
    """Call a function, sync or async, and await its answer for so many seconds.

    Raises:
        HookFailed: It raised anything, SystemExit and CancelledError included, or was not done in time.
        CancelledError: The call itself is cancelled.
    """
    was_inside = enter()
    try:
        answer = await within(_ask(function, args), patience, _leave)
    except DeadlinePassed:
        raise HookFailed from TimeoutError()
    except asyncio.CancelledError as error:
        if is_cancelled():
            raise
        raise HookFailed from error
    except BaseException as error:
        raise HookFailed from error
    finally:
        leave(was_inside)
    return answer


async def _ask(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    answer = function(*args)
    return await answer if inspect.isawaitable(answer) else answer


def _leave(_: object, hanging: Coroutine[Any, Any, Any]) -> None:
    """Go on with what swallows its cancellation, as long as something is left that could wake it."""
    asyncio.ensure_future(hanging).add_done_callback(_read_error)


def _read_error(task: asyncio.Future[Any]) -> None:
    if not task.cancelled():
        task.exception()  # Lest asyncio complain of an error that nobody waited for.


def is_cancelled() -> bool:
    """Return whether somebody cancels the present task; a CancelledError may also be raised by anybody's code."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
