"""Coroutines that do not simply end when they are cancelled, each in its own way, until an event is set."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

import anyio

# Longer than any deadline in the tests.
LONG = 10.0

Work = Callable[[asyncio.Event], Coroutine[Any, Any, Any]]


def late_event() -> asyncio.Event:
    """Make what stubborn code waits for, and set it when every deadline has passed."""
    event = asyncio.Event()
    asyncio.get_running_loop().call_later(LONG, event.set)
    return event


class Rest:
    """Hold what was abandoned, in tasks of its own."""

    def __init__(self) -> None:
        self.tasks: list[asyncio.Task[Any]] = []

    def __call__(self, _call: object, rest: Coroutine[Any, Any, Any]) -> None:
        """Go on with it."""
        self.tasks.append(asyncio.ensure_future(rest))

    async def end(self) -> list[Any]:
        """Wait until all of it has ended, and tell how."""
        return await asyncio.gather(*self.tasks, return_exceptions=True)


async def gives_in(until: asyncio.Event) -> None:
    """End at once, for comparison."""
    await until.wait()


async def swallows(until: asyncio.Event) -> str:
    """Take no notice of being cancelled."""
    while not until.is_set():
        with suppress(asyncio.CancelledError):
            await until.wait()
    return "too late"


async def catches_everything(until: asyncio.Event) -> None:
    """Try again and again, no matter what happens."""
    while not until.is_set():
        try:
            await until.wait()
        except BaseException:
            await asyncio.sleep(0)


async def cleans_up_slowly(until: asyncio.Event) -> None:
    """Take long to put things in order."""
    try:
        await until.wait()
    finally:
        await until.wait()


async def answers_when_cancelled(until: asyncio.Event) -> str:
    """Have an answer after all."""
    with suppress(asyncio.CancelledError):
        await until.wait()
    return "too late"


async def fails_when_cancelled(until: asyncio.Event) -> None:
    """Say something else than that it was cancelled."""
    try:
        await until.wait()
    except asyncio.CancelledError:
        raise ValueError("lost connection") from None


async def exits_when_cancelled(until: asyncio.Event) -> None:
    """Try to end the process."""
    try:
        await until.wait()
    except asyncio.CancelledError:
        raise SystemExit(3) from None


async def waits_for_a_task(until: asyncio.Event) -> Any:
    """Wait for a task that takes no notice."""
    return await asyncio.create_task(swallows(until))


async def gathers(until: asyncio.Event) -> Any:
    """Wait for several."""
    return await asyncio.gather(swallows(until), swallows(until))


async def waits_in_time(until: asyncio.Event) -> Any:
    """Have a time limit of its own, and a longer one."""
    return await asyncio.wait_for(swallows(until), 100)


async def groups_tasks(until: asyncio.Event) -> None:
    """Wait for the tasks of a group."""
    async with asyncio.TaskGroup() as group:
        group.create_task(swallows(until))


async def shields_a_task(until: asyncio.Event) -> None:
    """Protect something from being cancelled."""
    await asyncio.shield(asyncio.create_task(until.wait()))


async def shields(until: asyncio.Event) -> None:
    """Do the same in another library's words."""
    with anyio.CancelScope(shield=True):
        await until.wait()


# All of them, and how long each is waited for when one second is allowed.
WAYS: dict[Work, float] = {
    gives_in: 1.0,
    swallows: 1.1,
    catches_everything: 1.1,
    cleans_up_slowly: 1.1,
    answers_when_cancelled: 1.0,
    fails_when_cancelled: 1.0,
    exits_when_cancelled: 1.0,
    waits_for_a_task: 1.1,
    gathers: 1.1,
    waits_in_time: 1.1,
    groups_tasks: 1.1,
    shields_a_task: 1.0,
    shields: 1.0,
}
