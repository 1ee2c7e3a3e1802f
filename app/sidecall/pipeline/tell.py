"""What callback handlers are told of a call."""

import asyncio
import contextvars
import copy
import threading
from collections.abc import Mapping
from functools import partial
from typing import Any
from uuid import UUID

from sidecall.core.callbacks import Callback, CallbackMethod
from sidecall.core.errors import GuardrailTripped, ToolCallFailed, ToolFailure
from sidecall.core.invocation import Invocation
from sidecall.core.tool import CompiledTool
from sidecall.executors.results import hand_over
from sidecall.pipeline.handle import find_original
from sidecall.pipeline.hooks import HookFailed, call_hook
from sidecall.telemetry import log_hook_failure

# A handler of which so many calls hang is told nothing more until one of them ends.
_MOST_HANGING = 4


def has_callbacks(tool: CompiledTool) -> bool:
    """Return whether somebody listens."""
    return bool(tool.options.callbacks)


async def tell_start(invocation: Invocation) -> None:
    """Announce that the tool is about to run."""
    tool = invocation.tool
    invocation.is_told = True
    inputs = {name: value for name, value in invocation.args.items() if name not in tool.hidden_names}
    serialized = {"name": tool.name, "description": tool.description}
    # Copies, since what a handler does to them must not change the call.
    await _tell(invocation, "on_tool_start", (serialized, str(inputs)), {"inputs": copy.deepcopy(inputs)})


async def tell_end(invocation: Invocation) -> None:
    """Pass on what the call was answered with."""
    message = invocation.message
    await _tell(invocation, "on_tool_end", (message and message.model_copy(deep=True),), {})


# Of these its listeners hear even when the tool never began; of all others only when they have heard of its start.
_TOLD = (ToolFailure, ToolCallFailed, GuardrailTripped)


async def tell_error(invocation: Invocation) -> None:
    """Pass on why the call failed, after its start if that has not been told."""
    error = invocation.error
    if error is None or not (invocation.is_told or isinstance(error, _TOLD)):
        return
    if not invocation.is_told:
        await tell_start(invocation)
    await _tell(invocation, "on_tool_error", (find_original(error),), {})


async def _tell(invocation: Invocation, event: str, args: tuple[Any, ...], details: Mapping[str, Any]) -> None:
    options = invocation.tool.options
    known = {
        "run_id": UUID(invocation.id),
        "parent_run_id": None,
        "tags": list(options.tags),
        "metadata": dict(options.metadata),
        "name": invocation.tool.name,
        "tool_call_id": invocation.call.id,
        **details,
    }
    listeners = _find_listeners(options.callbacks, event)
    await asyncio.gather(*(_hear(invocation, listener, event, args, known) for listener in listeners))


def _find_listeners(callbacks: tuple[Callback, ...], event: str) -> list[CallbackMethod]:
    return [callback.methods[event] for callback in callbacks if event in callback.methods]


async def _hear(
    invocation: Invocation, listener: CallbackMethod, event: str, args: tuple[Any, ...], known: Mapping[str, Any]
) -> None:
    heard = partial(listener.function, *args, **listener.pick(known))
    try:
        await call_hook(heard if listener.is_async else partial(_in_thread, listener, heard))
    except HookFailed as failed:
        log_hook_failure(invocation, f"a callback ({event})", failed.__cause__ or failed)


async def _in_thread(listener: CallbackMethod, heard: partial[Any]) -> None:
    """Call a handler of another library in a thread, since it may write to files and networks.

    The thread is one of its own and a daemon, so that a handler that hangs takes nothing from tools or other handlers.
    """
    if len(listener.hanging) >= _MOST_HANGING:
        raise TimeoutError(f"{_MOST_HANGING} earlier calls of it hang still")
    done: asyncio.Future[BaseException | Any] = asyncio.get_running_loop().create_future()
    listener.hanging.append(done)

    def run() -> None:
        try:
            answer: Any = heard()
        except BaseException as error:
            answer = error
        listener.hanging.remove(done)
        hand_over(done, answer)

    threading.Thread(target=contextvars.copy_context().run, args=(run,), daemon=True).start()
    answer = await done
    if isinstance(answer, BaseException):
        raise HookFailed from answer
    if asyncio.iscoroutine(answer):
        await answer
