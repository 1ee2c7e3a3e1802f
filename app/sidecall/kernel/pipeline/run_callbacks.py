"""Run callback handlers on the start, end and error of a call."""

import asyncio
import copy
from collections.abc import Mapping
from functools import partial
from typing import Any
from uuid import UUID

from pydantic import ValidationError

from sidecall.kernel.core.callbacks import Callback, Hook
from sidecall.kernel.core.errors import GuardrailTripped, InvalidArguments, ToolCallFailed, ToolFailure
from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.tool import INFERRED, CompiledTool
from sidecall.kernel.pipeline.failure_log import log_hook_failure
from sidecall.kernel.pipeline.failure_policy import find_original, make_shown
from sidecall.kernel.pipeline.hooks import HookFailed, call_beside


def has_callbacks(tool: CompiledTool) -> bool:
    """Return whether the tool has callbacks."""
    return bool(tool.options.callbacks)


async def run_on_start(invocation: Invocation) -> None:
    """Report that the tool is about to run."""
    tool = invocation.tool
    invocation.is_told = True
    inputs = {name: value for name, value in invocation.args.items() if name not in tool.hidden_names}
    serialized = {"name": tool.name, "description": tool.description}
    # Copies, since what a handler does to them must not change the call.
    await _tell(invocation, "on_tool_start", (serialized, str(inputs)), {"inputs": copy.deepcopy(inputs)})


async def run_on_end(invocation: Invocation) -> None:
    """Report the answer of the call."""
    message = invocation.message
    await _tell(invocation, "on_tool_end", (message and message.model_copy(deep=True),), {})


# Of these its listeners hear even when the tool never began; of all others only when they have heard of its start.
_TOLD = (ToolFailure, ToolCallFailed, GuardrailTripped)


async def run_on_error(invocation: Invocation) -> None:
    """Report why the call failed, after its start if that was not reported."""
    error = invocation.error
    if error is None or not (invocation.is_told or isinstance(error, _TOLD)):
        return
    if not invocation.is_told:
        await run_on_start(invocation)
    await _tell(invocation, "on_tool_error", (_choose_heard(invocation, error),), {})


def _choose_heard(invocation: Invocation, error: BaseException) -> BaseException:
    """Choose the error for handlers: the tool's exception, or pydantic's error for refused arguments."""
    return write_validation_error(invocation, error) if isinstance(error, InvalidArguments) else find_original(error)


def write_validation_error(invocation: Invocation, error: InvalidArguments) -> Exception:
    """Build pydantic's validation error for refused arguments, which is what LangChain raises.

    The validator's own error is used unless it would show hidden values; a JSON Schema has none. The error of a model
    that we made carries the tool's name, like LangChain's.
    """
    original: Any = error.original
    if original is not None and not invocation.tool.hidden_names:
        return _name_after(invocation.tool, original)
    return make_shown(invocation, error.errors if original is None else original.errors())


def _name_after(tool: CompiledTool, original: Exception) -> Exception:
    if not isinstance(original, ValidationError) or original.title != INFERRED:
        return original
    try:
        return ValidationError.from_exception_data(tool.name, original.errors(include_url=False))  # type: ignore[arg-type]
    except (KeyError, TypeError, ValueError):
        return original  # A validator of the author's has a kind of its own.


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


def _find_listeners(callbacks: tuple[Callback, ...], event: str) -> list[Hook]:
    return [callback.methods[event] for callback in callbacks if event in callback.methods]


async def _hear(
    invocation: Invocation, listener: Hook, event: str, args: tuple[Any, ...], known: Mapping[str, Any]
) -> None:
    heard = partial(listener.function, *args, **listener.pick(known))
    try:
        await call_beside(listener, heard)
    except HookFailed as failed:
        log_hook_failure(invocation, f"a callback ({event})", failed.__cause__ or failed)
