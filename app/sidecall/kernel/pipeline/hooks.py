"""Call authors' hooks, so that their failures never affect the call."""

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Callable, Coroutine, Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from sidecall.kernel.concurrency.coroutines import read_error
from sidecall.kernel.core.callbacks import Hook
from sidecall.kernel.core.context import Caller, ToolContext
from sidecall.kernel.core.errors import MissingContext
from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.executors.results import hand_over
from sidecall.kernel.pipeline.execution.deadline import DeadlinePassed
from sidecall.kernel.pipeline.execution.eager_start import seconds_left, within
from sidecall.kernel.pipeline.failure_log import log_predicate_failure

NO_CONTEXT: Mapping[str, Any] = MappingProxyType({})


async def visible(
    tools: Iterable[CompiledTool], caller: Caller, context: Mapping[str, Any] = NO_CONTEXT
) -> list[CompiledTool]:
    """List the tools that are enabled for this caller, in order; their predicates run concurrently."""
    offered = [tool for tool in tools if tool.options.is_enabled is not False and is_permitted(tool, caller)]
    if all(tool.options.is_enabled is True for tool in offered):
        return offered
    asked = [tool for tool in offered if tool.options.is_enabled is not True]
    answers = await asyncio.gather(*(is_visible(tool, caller, context) for tool in asked))
    hidden = {id(tool) for tool, answer in zip(asked, answers, strict=True) if not answer}
    return [tool for tool in offered if id(tool) not in hidden]


def is_permitted(tool: CompiledTool, caller: Caller) -> bool:
    """Return whether a caller has a tool's scopes and the tool is in its toolset."""
    if caller.toolset is not None and not (tool.is_own or caller.toolset.has(tool.name, tool.options.tags)):
        return False
    return not tool.options.scopes or caller.may(*tool.options.scopes)


def is_surely_visible(tool: CompiledTool, caller: Caller) -> bool:
    """Return whether a caller sees a tool without running a predicate."""
    return tool.options.is_enabled is True and is_permitted(tool, caller)


async def is_visible(tool: CompiledTool, caller: Caller, context: Mapping[str, Any] = NO_CONTEXT) -> bool:
    """Return whether a tool is enabled for this caller; a predicate that crashes, hangs or lacks context hides it."""
    try:
        return is_surely_visible(tool, caller) or await ask_visible(tool, caller, context)
    except MissingContext:
        return False


async def ask_visible(tool: CompiledTool, caller: Caller, context: Mapping[str, Any]) -> bool:
    """Do the same for a call, whose program is told about missing context.

    Raises:
        MissingContext: The predicate wants another context than was sent.
    """
    if not is_permitted(tool, caller):
        return False
    predicate = tool.options.is_enabled
    if isinstance(predicate, bool):
        return predicate
    asked = ToolContext(tool_name=tool.name, tool_call_id="", caller=caller, context=context)
    try:
        return bool(await call_hook(predicate, asked))
    except HookFailed as failed:
        if isinstance(failed.__cause__, MissingContext):
            raise failed.__cause__ from None
        log_predicate_failure(tool.name, failed.__cause__ or failed)
    except Exception as error:  # What the answer's own `__bool__` raises.
        log_predicate_failure(tool.name, error)
    return False


# Seconds after which a call goes on without a function that hangs.
PATIENCE = 5.0
# A function with this many hanging calls in threads is not called again until one of them ends.
_MOST_HANGING = 4


def patience(invocation: Invocation) -> float:
    """Return the seconds that a hook may take, at most until the call's deadline."""
    left = seconds_left(invocation)
    return PATIENCE if left is None else min(PATIENCE, left)


class HookFailed(Exception):
    """Code around a tool crashed or hung; the cause says how."""


async def call_hook(function: Callable[..., Any], *args: Any, patience: float = PATIENCE) -> Any:
    """Call a function, sync or async, and wait `patience` seconds for its result.

    Raises:
        HookFailed: It raised anything, SystemExit and CancelledError included, or was not done in time.
        CancelledError: The call itself is cancelled.
    """
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
    return answer


async def _ask(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    answer = function(*args)
    return await answer if inspect.isawaitable(answer) else answer


async def call_beside(hook: Hook, called: partial[Any], patience: float = PATIENCE) -> Any:
    """Call a hook's prepared function: an async one on the event loop, any other in a thread, since it may block.

    Raises:
        HookFailed: As `call_hook` says, or too many of its calls hang still.
        CancelledError: The call itself is cancelled.
    """
    try:
        return await call_hook(called if hook.is_async else partial(_call_in_thread, hook, called), patience=patience)
    except HookFailed as failed:
        inner = failed.__cause__
        if isinstance(inner, HookFailed):
            raise inner from inner.__cause__
        raise


async def _call_in_thread(hook: Hook, called: partial[Any]) -> Any:
    """Call the function in a new daemon thread, so that one that hangs blocks neither tools nor other hooks."""
    hook.hanging[:] = [thread for thread in hook.hanging if thread.is_alive()]
    if len(hook.hanging) >= _MOST_HANGING:
        raise TimeoutError(f"{_MOST_HANGING} earlier calls of it hang still")
    done: asyncio.Future[BaseException | Any] = asyncio.get_running_loop().create_future()

    def run() -> None:
        try:
            answer: Any = called()
        except BaseException as error:
            answer = error
        hand_over(done, answer)

    thread = threading.Thread(target=contextvars.copy_context().run, args=(run,), daemon=True)
    thread.start()
    try:
        answer = await done
    except asyncio.CancelledError:
        hook.hanging.append(thread)
        raise
    if isinstance(answer, BaseException):
        raise HookFailed from answer
    return await answer if asyncio.iscoroutine(answer) else answer


def _leave(_: object, hanging: Coroutine[Any, Any, Any]) -> None:
    """Keep driving a hook that swallows its cancellation, while anything can still wake it."""
    asyncio.ensure_future(hanging).add_done_callback(read_error)


def is_cancelled() -> bool:
    """Return whether the current task is being cancelled; a CancelledError alone may come from any code."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
