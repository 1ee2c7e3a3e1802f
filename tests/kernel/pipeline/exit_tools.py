"""Tools whose code raises, in every place where somebody's code runs, what is no Exception."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from sidecall import ToolException, ToolGuardrailFunctionOutput, tool, tool_input_guardrail, tool_output_guardrail


class Base(BaseException):
    """Derives from nothing that anybody expects."""


ERRORS: dict[str, type[BaseException]] = {
    "exit": SystemExit,
    "interrupt": KeyboardInterrupt,
    "close": GeneratorExit,
    "cancel": asyncio.CancelledError,
    "base": Base,
}
# What is raised where no argument can say it.
NEXT = ["exit"]


def burst(how: str = "") -> Any:
    """Raise it."""
    raise ERRORS[how or NEXT[0]]


async def burst_later(how: str) -> None:
    """Raise it, once others have had their turn."""
    await asyncio.sleep(0)
    burst(how)


def _keep(how: str) -> str:
    NEXT[0] = how
    return how


How = Annotated[str, AfterValidator(_keep)]


def body(how: How) -> str:
    """Raise at once."""
    return burst(how)  # type: ignore[no-any-return]


def last(how: How) -> str:
    """Raise while something is put in order."""
    try:
        return how
    finally:
        burst(how)


def parts(how: How) -> Iterator[str]:
    """Raise after the first part."""
    yield how
    burst(how)


async def waiting(how: How) -> None:
    """Raise after a wait."""
    await burst_later(how)


async def child(how: How) -> None:
    """Raise in a task."""
    await asyncio.create_task(burst_later(how))


async def children(how: How) -> None:
    """Raise in one of several."""
    await asyncio.gather(asyncio.sleep(0.01), burst_later(how))


async def group(how: How) -> None:
    """Raise in a task of a group."""
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(burst_later(how))
        tasks.create_task(asyncio.sleep(0.01))
    raise ToolException("A group hides that a task of it was cancelled.")


async def grandchild(how: How) -> None:
    """Raise in a task of a task."""
    await asyncio.create_task(child(how))


async def later_parts(how: How) -> AsyncIterator[str]:
    """Raise after the first part."""
    yield how
    await burst_later(how)


async def itself(how: How) -> str:
    """Cancel the task it runs in, and find out later, or never."""
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    if how != "exit":
        await burst_later(how)
    return how


async def _cancel(task: asyncio.Task[Any] | None) -> None:
    assert task is not None
    task.cancel()


async def parent(how: How) -> str:
    """Be cancelled by a task of its own."""
    await asyncio.gather(asyncio.create_task(_cancel(asyncio.current_task())), asyncio.sleep(0.01))
    return how


class Result:
    """Raises when it is written."""

    def __str__(self) -> str:
        return burst()  # type: ignore[no-any-return]

    @property
    def __dict__(self) -> Any:  # type: ignore[override]
        return burst()


def result(how: How) -> Any:
    """Return what cannot be written."""
    return {how: Result()}


def _refuse(how: str) -> str:
    return burst(how)  # type: ignore[no-any-return]


def validator(how: Annotated[str, AfterValidator(_refuse)]) -> str:
    """Never run."""
    return how


def factory(how: How, more: str = Field(default_factory=burst)) -> str:
    """Never run either."""
    return how + more


SYNC: list[Callable[..., Any]] = [body, last, parts, result, validator, factory]
ASYNC: list[Callable[..., Any]] = [waiting, child, children, group, grandchild, later_parts, itself, parent]
PLACES = [function.__name__ for function in (*SYNC, *ASYNC)]
EXECUTORS = ("inline", "thread", "process")

for _function in (*SYNC, *ASYNC):
    for _executor in EXECUTORS:
        _name = f"{_function.__name__}_{_executor}"
        globals()[_name] = tool(_name, executor=_executor)(_function)


@tool_input_guardrail
def judge_input(_: Any) -> ToolGuardrailFunctionOutput:
    """Raise."""
    return burst()  # type: ignore[no-any-return]


@tool_input_guardrail
def judge_itself(_: Any) -> ToolGuardrailFunctionOutput:
    """Cancel the task of the call, which is no answer."""
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    return ToolGuardrailFunctionOutput.allow()


@tool_output_guardrail
async def judge_output(_: Any) -> ToolGuardrailFunctionOutput:
    """Raise in a task."""
    await asyncio.create_task(burst_later(NEXT[0]))
    return ToolGuardrailFunctionOutput.allow()


async def _hide(_: Any) -> bool:
    await asyncio.create_task(burst_later(NEXT[0]))
    return True


def _word(_: Any) -> str:
    return burst()  # type: ignore[no-any-return]


def fail(how: How) -> str:
    """Fail as tools should."""
    raise ToolException(how)


# Around a tool, on the event loop with each executor.
guarded = tool("guarded", tool_input_guardrails=[judge_input])(body)
cancelled = tool("cancelled", tool_input_guardrails=[judge_itself])(body)
judged = tool("judged", tool_output_guardrails=[judge_output])(lambda how: how)
hidden = tool("hidden", is_enabled=_hide)(body)
worded = tool("worded", handle_tool_error=_word)(fail)
AROUND = (guarded, cancelled, judged, hidden, worded)


@tool
def fine(text: str) -> str:
    """Answer."""
    return text


@tool(executor="thread")
async def fine_thread(text: str) -> str:
    """Answer, on the event loop of a thread."""
    await asyncio.sleep(0)
    return text


@tool(executor="process")
async def fine_process(text: str) -> str:
    """Answer, on the event loop of all calls."""
    await asyncio.sleep(0)
    return text
