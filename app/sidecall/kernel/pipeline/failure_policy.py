"""Apply the author's policy to a failure: its text, or raising it to the calling program."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from sidecall.kernel.core.agents_errors import SdkWording
from sidecall.kernel.core.errors import (
    InvalidArguments,
    SidecallError,
    ToolCallFailed,
    ToolException,
    ToolExecutionError,
    ToolFailure,
    ToolTimeout,
)
from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.json_data.to_json import render_failure, replace_surrogates, to_text
from sidecall.kernel.pipeline.failure_log import log_failure as write_log_line
from sidecall.kernel.pipeline.guardrails import guard_text
from sidecall.kernel.pipeline.hooks import call_hook, is_cancelled

# What no tool's code has raised past us.
_CONTAINED = (SidecallError, GeneratorExit)
# LangChain's text for handle_validation_error=True.
_FIXED = "Tool input validation error"
# What `handle_tool_error=None` lets through: the failures of the tool's own code, but for its deadline.
_OF_THE_TOOL = frozenset(("tool_error", "execution_error", "output_error"))

_HANDLED_BY_ALL = _OF_THE_TOOL | {"malformed_arguments", "invalid_arguments"}


def wrap_unexpected(invocation: Invocation) -> None:
    """Replace an unknown exception by a crash of the tool, so that a call never affects others.

    Raises:
        ToolExecutionError: That crash.
    """
    error = invocation.error
    if error is None or isinstance(error, _CONTAINED):
        return
    if not (isinstance(error, asyncio.CancelledError) and is_cancelled()):
        raise ToolExecutionError(invocation.tool.name, invocation.call.id) from error


def log_failure(invocation: Invocation) -> None:
    """Log a failure that an operator or author has to fix."""
    if isinstance(invocation.error, ToolFailure):
        write_log_line(invocation, invocation.error)


def has_way_through(tool: CompiledTool) -> bool:
    """Return whether the author lets some failures reach the calling program."""
    return tool.options.handle_tool_error is None or tool.options.timeout_behavior == "raise"


async def reraise(invocation: Invocation) -> None:
    """Replace a failure by the problem for the calling program, if the author lets it pass.

    Raises:
        ToolCallFailed: That problem.
        GuardrailTripped: An output guardrail refuses the request.
    """
    failure = invocation.error
    if isinstance(failure, ToolFailure) and _goes_through(invocation, failure):
        raise await _make_problem(invocation, failure) from failure


def _goes_through(invocation: Invocation, failure: ToolFailure) -> bool:
    if isinstance(failure, ToolTimeout):
        return invocation.tool.options.timeout_behavior == "raise"
    return invocation.tool.options.handle_tool_error is None and failure.kind in _OF_THE_TOOL


async def _make_problem(invocation: Invocation, failure: ToolFailure) -> ToolCallFailed:
    """Build the error for the calling program; the tool's text has passed the output guardrails."""
    said = await guard_text(invocation, failure, render_failure(failure))
    call: dict[str, Any] = {"tool": invocation.tool.name, "call_id": invocation.call.id, "invocation_id": invocation.id}
    if isinstance(failure, ToolTimeout):
        call["timeout_seconds"] = failure.seconds
    text = replace_surrogates(said if isinstance(said, str) else to_text(said))
    return ToolCallFailed(text, kind=failure.kind, retryable=failure.retryable, **call)


def has_words(tool: CompiledTool) -> bool:
    """Return whether the author handles some failures of a tool, or judges their text."""
    options = tool.options
    return (
        options.handle_validation_error is not False
        or options.failure_error_function is not None
        or options.timeout_error_function is not None
        or not (options.handle_tool_error is None or isinstance(options.handle_tool_error, bool))
        or bool(options.tool_output_guardrails)
    )


async def ask_handler(invocation: Invocation, failure: ToolFailure) -> Any:
    """Return the author's text for this failure, or None for the default.

    A handler of argument errors gets pydantic's ValidationError, as in LangChain, without any secret.

    Raises:
        HookFailed: A handler crashed or hung.
        ToolCallFailed: `failure_error_function` answered None, which lets the failure through.
    """
    options = invocation.tool.options
    if isinstance(failure, InvalidArguments):
        failure = hide_in_refused(invocation, failure)
    if isinstance(failure, ToolException) and not isinstance(options.handle_tool_error, bool | None):
        return await _word(options.handle_tool_error, failure)
    if isinstance(failure, InvalidArguments) and options.handle_validation_error is not False:
        return await _word(options.handle_validation_error, failure.original or failure)
    if isinstance(failure, ToolTimeout) and options.timeout_error_function is not None:
        return await call_hook(options.timeout_error_function, invocation.tool_context, failure)
    if options.failure_error_function is None or failure.kind not in _HANDLED_BY_ALL:
        return None
    error = _choose_error(failure, options.failure_error_function)
    words = await call_hook(options.failure_error_function, invocation.tool_context, error)
    if words is None:
        raise await _make_problem(invocation, failure) from failure
    return words


async def _word(handler: Any, error: Exception) -> Any:
    if isinstance(handler, bool):
        return _FIXED
    return handler if isinstance(handler, str) else await call_hook(handler, error)


def _choose_error(failure: ToolFailure, handler: Any) -> BaseException:
    if isinstance(failure, InvalidArguments) and not isinstance(handler, SdkWording):
        return failure.original or failure
    return find_original(failure)


def find_original(error: BaseException) -> BaseException:
    """Return the exception that the tool itself raised, if one of our errors wraps it."""
    while isinstance(error, (ToolExecutionError, ToolCallFailed)) and error.__cause__ is not None:
        error = error.__cause__
    return error


def hide_in_refused(invocation: Invocation, failure: InvalidArguments) -> InvalidArguments:
    """Return the error with the call's secrets masked; unchanged if the call has none."""
    if invocation.secrets.mask is None:
        return failure
    original: Any = failure.original
    shown = None if original is None else make_shown(invocation, original.errors())
    return InvalidArguments(invocation.secrets.mask.hide(failure.errors), lambda: shown)


def make_shown(invocation: Invocation, found: Iterable[Mapping[str, Any]]) -> ValidationError:
    """Build pydantic's error for the refused arguments, with what the model sent and nothing hidden from it."""
    hidden = invocation.tool.hidden_names
    visible = {name: it for name, it in invocation.args.items() if name not in hidden}
    details = [_write_detail(_hide(invocation, it), _hide(invocation, visible)) for it in found]
    return ValidationError.from_exception_data(invocation.tool.name, details)


def _hide(invocation: Invocation, value: Any) -> Any:
    return value if invocation.secrets.mask is None else invocation.secrets.mask.hide(value)


def _write_detail(found: Mapping[str, Any], args: Mapping[str, Any]) -> InitErrorDetails:
    """Write one error detail; a missing argument shows the object around it, as in pydantic."""
    bounds = {name: it for name, it in (found.get("ctx") or {}).items() if not isinstance(it, BaseException)}
    rule = PydanticCustomError(found["type"], found["msg"], bounds or None)
    value: Any = args
    for part in found["loc"]:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            break
    return {"type": rule, "loc": tuple(found["loc"]), "input": value}
