"""Make a ToolMessage of what the tool returned, or of why it failed."""

import time
from collections.abc import Sequence
from typing import Any

from app.core.errors import ToolFailure, ToolOutputError
from app.core.invocation import Invocation, new_invocation_id
from app.core.jsonable import sendable, to_plain, to_text
from app.core.messages import Content, ToolCall, ToolMessage
from app.pipeline.handle import handled
from app.telemetry import log_handler_failure

# The types that LangChain's ToolMessage passes on as blocks.
_BLOCK_TYPES = frozenset("text image_url image json search_result custom_tool_call_output document file".split())


async def format_output(invocation: Invocation) -> None:
    """Make the message of a call that succeeded.

    Raises:
        ToolOutputError: The result is not what `response_format` promises, or cannot be said in JSON.
    """
    content, artifact = _split(invocation)
    if isinstance(content, ToolMessage):
        invocation.message = _readdressed(content, invocation)
        return
    name = invocation.tool.name
    invocation.message = _message(
        invocation,
        content=_content(name, content),
        artifact=None if artifact is None else _jsonable(name, artifact),
    )


async def format_failure(invocation: Invocation, failure: ToolFailure) -> None:
    """Make the message of a call that failed, in the words of the tool's author if there are any."""
    invocation.failure = failure
    message = _failure_message(
        failure, call_id=invocation.call.id, name=invocation.tool.name, metadata=_metadata(invocation), id=invocation.id
    )
    try:
        own = await handled(invocation.tool.options, failure)
        if own is not None:
            message.content = _content(invocation.tool.name, own)
    except Exception as error:
        log_handler_failure(invocation, error)
    invocation.message = message


def refuse(failure: ToolFailure, call: ToolCall) -> ToolMessage:
    """Make the message of a call that no tool was found for, or that its caller left incomplete."""
    return _failure_message(failure, call_id=call.id, name=call.name, metadata=_said(), id=new_invocation_id())


def _failure_message(
    failure: ToolFailure, *, call_id: str, name: str, metadata: dict[str, Any], id: str
) -> ToolMessage:
    error = {
        "kind": failure.kind,
        "message": sendable(failure.message),
        "retryable": failure.retryable,
        "errors": list(failure.errors),
        "nearest": list(failure.nearest),
        "retry_after_ms": failure.retry_after_ms,
    }
    return ToolMessage(
        content=sendable(failure.content),
        tool_call_id=call_id,
        name=name,
        status="error",
        id=id,
        response_metadata={**metadata, "error": error},
    )


def _split(invocation: Invocation) -> tuple[Any, Any]:
    output = invocation.output
    if invocation.tool.options.response_format == "content":
        return output, None
    if not isinstance(output, tuple) or len(output) != 2:
        raise ToolOutputError(
            f"Error: {invocation.tool.name} has response_format='content_and_artifact' and must return a pair "
            f"(content, artifact), but returned {type(output).__name__}."
        )
    return output


def _readdressed(message: ToolMessage, invocation: Invocation) -> ToolMessage:
    """Make a message that the tool wrote itself answer this call, whatever ids it carries."""
    return _message(
        invocation,
        content=_content(invocation.tool.name, message.content),
        artifact=_jsonable(invocation.tool.name, message.artifact),
        status=message.status,
        additional_kwargs=_jsonable(invocation.tool.name, message.additional_kwargs),
    )


def _message(invocation: Invocation, **fields: Any) -> ToolMessage:
    return ToolMessage(
        tool_call_id=invocation.call.id,
        name=invocation.tool.name,
        id=invocation.id,
        response_metadata=_metadata(invocation),
        **fields,
    )


def _metadata(invocation: Invocation) -> dict[str, Any]:
    return _said(
        duration_ms=round((time.monotonic() - invocation.started) * 1000, 3),
        return_direct=invocation.tool.options.return_direct,
        ignored_args=invocation.ignored,
        repaired=invocation.repaired,
    )


def _said(
    *,
    duration_ms: float = 0.0,
    return_direct: bool = False,
    ignored_args: Sequence[str] = (),
    repaired: Sequence[str] = (),
) -> dict[str, Any]:
    """Name what every answer says of its call, whether a tool was found for it or not."""
    return {
        "duration_ms": duration_ms,
        "return_direct": return_direct,
        "ignored_args": list(ignored_args),
        "repaired": list(repaired),
    }


def _content(name: str, value: Any) -> Content:
    """Follow LangChain: text and lists of known blocks as they are, all else as JSON text, but never as a repr."""
    if isinstance(value, str):
        return sendable(str.__str__(value))
    if isinstance(value, (list, tuple)) and all(_is_block(item) for item in value):
        blocks: list[Any] = _jsonable(name, list(value))
        return blocks
    try:
        return to_text(value)
    except ValueError as error:
        raise _unsayable(name, value) from error


def _is_block(item: Any) -> bool:
    return isinstance(item, str) or (isinstance(item, dict) and item.get("type") in _BLOCK_TYPES)


def _jsonable(name: str, value: Any) -> Any:
    try:
        return to_plain(value)
    except ValueError as error:
        raise _unsayable(name, value) from error


def _unsayable(name: str, value: Any) -> ToolOutputError:
    kind = type(value).__name__
    return ToolOutputError(f"Error: {name} returned a value of type {kind}, which cannot be said in JSON.")
