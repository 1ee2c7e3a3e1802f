"""Make a ToolMessage of what the tool returned, or of why it failed."""

import time
from typing import Any

from sidecall.core.command import CommandParts, MessageParts, is_command, is_message, read_command, read_message
from sidecall.core.errors import RequestError, ToolFailure
from sidecall.core.invocation import Invocation, new_invocation_id
from sidecall.core.jsonable import (
    Lose,
    lose_silently,
    no_json_form,
    render_failure,
    replace_surrogates,
    to_plain,
    to_text,
)
from sidecall.core.messages import Content, ToolCall, ToolMessage, are_blocks
from sidecall.pipeline.guard import guard_text
from sidecall.pipeline.handle import ask_handler
from sidecall.pipeline.lost_numbers import LostNumbers
from sidecall.telemetry import log_hook_failure

# What ToolMessage() calls, but without its keywords, since every answer is made here.
_make = ToolMessage.__pydantic_validator__.validate_python

# Results of which nothing has to be found out.
_SIMPLE = frozenset((str, int, bool, type(None)))


async def format_output(invocation: Invocation) -> None:
    """Make the message of a call that succeeded.

    Raises:
        ToolOutputError: The result is not what `response_format` promises, or cannot be said in JSON.
    """
    name = invocation.tool.name
    if type(invocation.output) in _SIMPLE and invocation.tool.options.response_format == "content":
        invocation.message = _make_message(invocation, {}, {"content": _make_content(name, invocation.output)})
        return
    content, artifact = invocation.tool.split(invocation.output)
    lost = LostNumbers()
    told: dict[str, Any] = {}
    fields: dict[str, Any] = {}
    if is_command(content):
        command = read_command(name, content, invocation.call.id)
        told = _describe_command(name, command, lost)
        content, artifact, fields = _take_over(name, command.answer, artifact)
    elif is_message(content):
        content, artifact, fields = _take_over(name, read_message(content), artifact)
    fields["content"] = _make_content(name, content, lost.of("content"))
    fields["artifact"] = None if artifact is None else _make_jsonable(name, artifact, lost.of("artifact"))
    invocation.notes = lost.notes
    invocation.message = _make_message(invocation, told, fields)


async def format_failure(invocation: Invocation) -> None:
    """Make the message of a call that failed, in the words of the tool's author if there are any.

    Errors that are no failure for the model to read have none.

    Raises:
        ToolCallFailed: Its author wants the calling program to see the failure instead.
        GuardrailTripped: A guardrail refuses what the tool said.
    """
    failure = invocation.error
    if not isinstance(failure, ToolFailure):
        return
    message = _make_failure_message(
        failure, call_id=invocation.call.id, name=invocation.tool.name, metadata={}, id=invocation.id
    )
    try:
        own = await ask_handler(invocation, failure)
        if own is not None:
            message.content = _make_content(invocation.tool.name, own)
    except RequestError:
        raise
    except Exception as error:
        log_hook_failure(invocation, "an error handler", error.__cause__ or error)
    allowed = await guard_text(invocation, failure, message.content)
    if allowed is not message.content:
        message.content = _make_content(invocation.tool.name, allowed)
        said = message.content
        message.response_metadata["error"]["message"] = said if isinstance(said, str) else to_text(said)
    message.response_metadata = {**_make_metadata(invocation), **message.response_metadata}
    invocation.message = message


def refuse(failure: ToolFailure, call: ToolCall) -> ToolMessage:
    """Make the message of a call that no tool was found for, or that its caller left incomplete."""
    return _make_failure_message(
        failure, call_id=call.id, name=call.name, metadata=_make_empty_metadata(), id=new_invocation_id()
    )


def _make_failure_message(
    failure: ToolFailure, *, call_id: str, name: str, metadata: dict[str, Any], id: str
) -> ToolMessage:
    text = replace_surrogates(render_failure(failure))
    error = {
        "kind": failure.kind,
        "message": text,
        "retryable": failure.retryable,
        "errors": list(failure.errors),
        "nearest": list(failure.nearest),
        "retry_after_ms": failure.retry_after_ms,
    }
    return ToolMessage(
        content=text,
        tool_call_id=call_id,
        name=name,
        status="error",
        id=id,
        response_metadata={**metadata, "error": error},
    )


def _describe_command(name: str, command: CommandParts, lost: LostNumbers) -> dict[str, Any]:
    """Write down what the caller is asked to do."""
    update = {"state_update": _make_jsonable(name, command.update, lost.of("state update"))}
    return {**update, "goto": _make_jsonable(name, command.goto)} if command.goto else update


def _take_over(name: str, spoken: MessageParts, artifact: Any) -> tuple[Any, Any, dict[str, Any]]:
    """Take over what a message of the tool's own says; its artifact beats the pair's."""
    rest = {"status": spoken.status, "additional_kwargs": _make_jsonable(name, dict(spoken.additional_kwargs))}
    return spoken.content, artifact if spoken.artifact is None else spoken.artifact, rest


def _make_message(invocation: Invocation, told: dict[str, Any], fields: dict[str, Any]) -> ToolMessage:
    """Make a message that answers this call, whatever ids one of the tool's own carries."""
    metadata = _make_metadata(invocation)
    metadata.update(told)
    fields["tool_call_id"] = invocation.call.id
    fields["name"] = invocation.tool.name
    fields["id"] = invocation.id
    fields["response_metadata"] = metadata
    message: ToolMessage = _make(fields)
    return message


def _make_metadata(invocation: Invocation) -> dict[str, Any]:
    said: dict[str, Any] = {
        "duration_ms": round((time.monotonic() - invocation.started) * 1000, 3),
        "return_direct": invocation.tool.options.return_direct,
        "ignored_args": list(invocation.ignored),
        "repaired": list(invocation.repaired),
    }
    if invocation.verdicts:
        said["guardrails"] = list(invocation.verdicts)
    if invocation.attempts:
        said["attempts"] = invocation.attempts
    if invocation.notes:
        said["notes"] = list(invocation.notes)
    return said


def _make_empty_metadata() -> dict[str, Any]:
    """Make what every answer says of its call, for calls that no tool was found for."""
    return {"duration_ms": 0.0, "return_direct": False, "ignored_args": [], "repaired": []}


def _make_content(name: str, value: Any, lose: Lose = lose_silently) -> Content:
    """Follow LangChain: text and lists of known blocks as they are, all else as JSON text, but never as a repr."""
    if isinstance(value, str):
        return replace_surrogates(str.__str__(value))
    if are_blocks(value):
        blocks: list[Any] = _make_jsonable(name, list(value), lose)
        return blocks
    try:
        return to_text(value, lose)
    except ValueError as error:
        raise no_json_form(name, value) from error


def _make_jsonable(name: str, value: Any, lose: Lose = lose_silently) -> Any:
    try:
        return to_plain(value, lose)
    except ValueError as error:
        raise no_json_form(name, value) from error
