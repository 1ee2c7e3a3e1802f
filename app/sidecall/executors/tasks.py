"""Keep tasks that a tool starts from ending the process.

When SystemExit or KeyboardInterrupt leaves a task, asyncio raises it once more out of the event loop, and so ends the
server with all its calls. A task that the code of a tool starts is therefore made with a coroutine that raises an
ordinary error instead, which whoever awaits the task finds there.
"""

import asyncio
from collections.abc import Callable, Coroutine, Generator
from contextvars import ContextVar
from typing import Any

_ENDS = (SystemExit, KeyboardInterrupt)
# Whether what runs is the code of a tool, or of what stands around it; its tasks and callbacks inherit it.
_is_inside: ContextVar[bool] = ContextVar("sidecall_is_inside", default=False)


class ExitRefused(RuntimeError):
    """A task of a tool tried to end the process; the cause is what it raised."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(f"a task of a tool raised {type(error).__name__}")


class ContainedCoroutine(Coroutine[Any, Any, Any]):
    """Another coroutine, but that it does not end the process; for whoever looks at it, it is that coroutine."""

    __slots__ = ("__weakref__", "_coroutine")

    def __init__(self, coroutine: Any) -> None:
        self._coroutine = coroutine

    def send(self, value: Any) -> Any:
        """Take its next step."""
        try:
            return self._coroutine.send(value)
        except _ENDS as error:
            raise ExitRefused(error) from error

    def throw(self, *error: Any) -> Any:
        """Raise an error in it."""
        try:
            return self._coroutine.throw(*error)
        except _ENDS as ended:
            raise ExitRefused(ended) from ended

    def close(self) -> None:
        """End it."""
        try:
            self._coroutine.close()
        except _ENDS as error:
            raise ExitRefused(error) from error

    def __await__(self) -> Generator[Any, Any, Any]:
        return (yield from self._coroutine.__await__())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._coroutine, name)


class TaskFactory:
    """Makes tasks as the event loop does without it, or as the factory before it; those of tools are contained."""

    __slots__ = ("_before",)

    def __init__(self, before: Callable[..., Any] | None) -> None:
        self._before = before

    def __call__(self, loop: asyncio.AbstractEventLoop, coroutine: Any, **options: Any) -> Any:
        """Make a task."""
        if _is_inside.get() and asyncio.iscoroutine(coroutine):
            coroutine = ContainedCoroutine(coroutine)
        if self._before is None:
            return asyncio.Task(coroutine, loop=loop, **options)
        return self._before(loop, coroutine, **options)


def enter() -> bool:
    """Let the tasks that are started from now on, in the present context, be those of a tool.

    What comes out is for `leave`.
    """
    loop = asyncio.get_running_loop()
    before = loop.get_task_factory()
    if type(before) is not TaskFactory:
        loop.set_task_factory(TaskFactory(before))
    was_inside = _is_inside.get()
    _is_inside.set(True)
    return was_inside


def leave(was_inside: bool) -> None:
    """Let it be as it was before."""
    _is_inside.set(was_inside)
