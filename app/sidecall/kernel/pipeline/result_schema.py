"""Validate a tool's result against its output schema, with the same outcome for REST, MCP and batches."""

from collections.abc import Awaitable

from sidecall.kernel.concurrency.fair_queue import key_of
from sidecall.kernel.concurrency.pools import RESULTS
from sidecall.kernel.core.errors import ToolOutputError
from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.messages import ABSENT, RESULT, ToolMessage, are_blocks, find_value, keep_value
from sidecall.kernel.core.tool import CompiledTool, ResultSchema
from sidecall.kernel.json_data.large_values import is_long
from sidecall.kernel.json_data.to_json import to_plain, to_text


def promises_value(tool: CompiledTool) -> bool:
    """Return whether a tool, or its upstream server, declares an output schema."""
    return tool.results is not None


def hold_result(invocation: Invocation) -> Awaitable[None] | None:
    """Validate a result's value and keep it with the message, if the value may be read.

    Raises:
        ToolOutputError: It is not what the tool promises, also from `await`, which is for what is large.
    """
    message, results = invocation.message, invocation.tool.results
    if message is None or results is None or message.status == "error":
        return None
    hold = _note_mismatch if invocation.tool.says_values else _hold
    value = find_value(message)
    if hold is _hold and (value is ABSENT or type(value) in results.scalars):
        return None
    if is_long(value):
        return RESULTS.run_for(key_of(invocation.request.sender.caller), hold, invocation, message, results)
    hold(invocation, message, results)
    return None


def _hold(invocation: Invocation, message: ToolMessage, results: ResultSchema) -> None:
    value = find_value(message)
    is_read = invocation.request.sender.wants_value
    if is_read:
        value = to_plain(value)  # A copy, since the tool may go on changing its own.
    settled = results.settle(invocation.tool.name, value, invocation.remarks.notes)
    if settled is not value:
        _put(invocation, message, settled)
    keep_value(message, settled if is_read else ABSENT)


def _put(invocation: Invocation, message: ToolMessage, value: object) -> None:
    """Replace the result's value by the validated one."""
    message.content = list(value) if isinstance(value, list) and are_blocks(value) else to_text(value)
    paired = invocation.tool.options.response_format == "content_and_artifact"
    invocation.output = (value, invocation.output[1]) if paired else value


def _note_mismatch(invocation: Invocation, message: ToolMessage, results: ResultSchema) -> None:
    """Note that a result does not match another server's output schema; it is passed on, since the tool has run."""
    name, value = invocation.tool.name, find_value(message)
    if value is ABSENT:
        message.response_metadata[RESULT] = f"{name} promises structured content, and its server sent none."
        return
    try:
        results.settle(name, value)
    except ToolOutputError as error:
        message.response_metadata[RESULT] = str(error).removeprefix("Error: ")
