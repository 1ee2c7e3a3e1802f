"""Make a ToolMessage from the tool's result or its failure."""

import math
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Any

from sidecall.kernel.concurrency.fair_queue import key_of
from sidecall.kernel.concurrency.pools import RESULTS
from sidecall.kernel.core.command import CommandParts, MessageParts, is_command, is_message, is_series, read_series
from sidecall.kernel.core.content_blocks import read_block
from sidecall.kernel.core.context import Usage
from sidecall.kernel.core.errors import RequestError, ToolException, ToolExecutionError, ToolFailure
from sidecall.kernel.core.invocation import Invocation, find_cost, new_invocation_id
from sidecall.kernel.core.messages import (
    ABSENT,
    IGNORED,
    Content,
    JsonText,
    ToolCall,
    ToolMessage,
    ValuedBlocks,
    ValuedText,
    are_blocks,
    keep_value,
    write_text_message,
)
from sidecall.kernel.core.native_results import settle_item
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.json_data.large_values import TooLong, is_bulky
from sidecall.kernel.json_data.pointer import format_path
from sidecall.kernel.json_data.to_json import (
    Lose,
    lose_silently,
    no_json_form,
    render_failure,
    replace_surrogates,
    to_plain,
    to_text,
    to_text_and_value,
    to_written,
    too_long_form,
)
from sidecall.kernel.pipeline.failure_log import log_hook_failure
from sidecall.kernel.pipeline.failure_policy import ask_handler, has_words
from sidecall.kernel.pipeline.guardrails import guard_text
from sidecall.kernel.ports.approvals.review import Review

# More sentences would only bury the first ones.
_MAX_PLACES = 20


class LostNumbers:
    """Collects a note for each NaN or Infinity that is sent as null, up to a bound."""

    # Most results lose nothing, and making one of these costs them nothing.
    _sentences: tuple[str, ...] = ()
    _surplus = 0

    def of(self, part: str) -> Lose:
        """Return a collector for one part of the answer, such as `artifact`."""

        def lose(number: float, path: tuple[str | int, ...]) -> None:
            if len(self._sentences) < _MAX_PLACES:
                sentence = f"{_name(number)} {_place(part, path)} was sent as null"
                self._sentences = (*self._sentences, sentence)
            else:
                self._surplus += 1

        return lose

    @property
    def notes(self) -> list[str]:
        """Return all notes; the last one counts the places that are not named."""
        if not self._surplus:
            return list(self._sentences)
        more = "number" if self._surplus == 1 else "numbers"
        return [*self._sentences, f"{self._surplus} more {more} that JSON does not have became null"]


def _name(number: float) -> str:
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"


def _place(part: str, path: tuple[str | int, ...]) -> str:
    if not path:
        return f"as the {part}"
    return f"at `{format_path(path)}`" + ("" if part == "content" else f" of the {part}")


# What ToolMessage() calls, but without its keywords, since every answer is made here.
_make = ToolMessage.__pydantic_validator__.validate_python

# Arguments that the model is told of.
_MOST_NAMED = 5
# Results that need no inspection.
_SIMPLE = frozenset((str, int, bool, type(None)))


def format_output(invocation: Invocation) -> Awaitable[None] | None:
    """Make the message of a call that succeeded; a large one is made in a thread and must be awaited.

    Raises:
        ToolOutputError: The result is not what `response_format` promises, or cannot be said in JSON.
        ToolExecutionError: An object that the tool returned crashes when it is read.
    """
    tool, output = invocation.tool, invocation.output
    if type(output) in _SIMPLE and tool.options.response_format == "content":
        try:
            text = output if type(output) is str else str(output) if type(output) is int else to_text(output)
        except ValueError as error:  # Python writes no number of more than 4,300 digits.
            raise no_json_form(tool.name, output) from error
        if not text.isascii():
            text = replace_surrogates(text)
        metadata = _make_metadata(invocation)
        message = write_text_message(text, invocation.request.call.id, tool.name, invocation.id, metadata)
        if tool.results is not None:
            keep_value(message, text if type(output) is str else output)
        invocation.message = message
        return None
    if is_bulky(output):
        return _format_aside(invocation)
    _format_structure(invocation)
    return None


async def _format_aside(invocation: Invocation) -> None:
    """Format a large result in a thread."""
    try:
        await RESULTS.run_for(key_of(invocation.request.sender.caller), _format_structure, invocation)
    except ToolFailure:
        if invocation.tool.executor != "inline":
            raise
        # Objects of the event loop may be changed there at the same time, or are only readable there.
        _format_structure(invocation)


def _format_structure(invocation: Invocation) -> None:
    name = invocation.tool.name
    try:
        _format_any(invocation, name)
    except ToolFailure:
        raise
    except BaseException as error:
        raise ToolExecutionError(name, invocation.call.id) from error


def _format_any(invocation: Invocation, name: str) -> None:
    content, artifact = invocation.tool.split(invocation.output)
    lost = LostNumbers()
    told: dict[str, Any] = {}
    fields: dict[str, Any] = {}
    if is_command(content) or is_message(content) or is_series(content):
        outputs = content if isinstance(content, list | tuple) else (content,)
        read = read_series(name, outputs, invocation.call.id)
        told = _describe_commands(name, read, lost) if read.update or any(map(is_command, outputs)) else {}
        content, artifact, fields = _take_over(name, read.answer, artifact)
    part = None if invocation.tool.options.response_format == "content" else "content"
    fields["content"], value = _say(name, content, lost.of("content"), part)
    fields["artifact"] = (
        None if artifact is None else _make_jsonable(name, artifact, lost.of("artifact"), "artifact", to_written)
    )
    invocation.remarks.notes = lost.notes
    invocation.message = make_message(invocation, told, fields)
    keep_value(invocation.message, _choose_value(invocation, content, value))


def _choose_value(invocation: Invocation, content: Any, value: Any) -> Any:
    """Choose the value to keep with a result: what it declares, or else itself."""
    kind = type(content)
    if kind is ValuedText or kind is ValuedBlocks:
        return content.value
    if invocation.tool.results is None or invocation.tool.says_values:
        return ABSENT
    if kind is JsonText:
        is_read = invocation.request.sender.wants_value or invocation.tool.options.cache is not None
        return content.value if is_read else ABSENT
    return value


def format_failure(invocation: Invocation) -> Awaitable[None] | None:
    """Make the message of a call that failed, with the author's text if there is one.

    Errors that are not meant for the model get none. Only a failure with handlers must be awaited.

    Raises:
        ToolCallFailed: Its author wants the calling program to see the failure instead.
        GuardrailTripped: A guardrail refuses what the tool said.
    """
    failure = invocation.error
    if not isinstance(failure, ToolFailure):
        return None
    invocation.message = _make_failure_message(
        failure,
        call_id=invocation.call.id,
        name=invocation.tool.name,
        metadata=_make_metadata(invocation),
        id=invocation.id,
    )
    return _reword(invocation, failure, invocation.message) if has_words(invocation.tool) else None


async def _reword(invocation: Invocation, failure: ToolFailure, message: ToolMessage) -> None:
    """Replace our text by the author's, and by that of guardrails."""
    invocation.message = None
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
    message.response_metadata = {**message.response_metadata, **_make_metadata(invocation)}
    invocation.message = message


def notes_ignored(tool: CompiledTool) -> bool:
    """Return whether the model is told which arguments were dropped."""
    return tool.options.unknown_args == "tell"


def note_ignored(invocation: Invocation) -> None:
    """Return the note about dropped arguments, for dialects without a place for their names."""
    message, names = invocation.message, invocation.remarks.ignored
    if message is not None and names:
        more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        said = replace_surrogates(", ".join(names[:_MOST_NAMED]))
        message.response_metadata[IGNORED] = f"Not used, since the tool has no such argument: {said}{more}."


def refuse(failure: ToolFailure, call: ToolCall) -> ToolMessage:
    """Make the message for an unknown tool, or for a call that its caller left incomplete."""
    message = _make_failure_message(
        failure, call_id=call.id, name=call.name, metadata=_make_empty_metadata(), id=new_invocation_id()
    )
    if call.item is not None:
        settle_item(message, call)
    return message


def _make_failure_message(
    failure: ToolFailure, *, call_id: str, name: str, metadata: dict[str, Any], id: str
) -> ToolMessage:
    text = replace_surrogates(render_failure(failure))
    metadata["error"] = _describe_failure(failure, text)
    return write_text_message(text, call_id, name, id, metadata, "error")


def _describe_failure(failure: ToolFailure, text: str) -> dict[str, Any]:
    return {
        "kind": failure.kind,
        "message": text,
        "retryable": failure.retryable,
        "errors": list(failure.errors),
        "nearest": list(failure.nearest),
        "retry_after_ms": failure.retry_after_ms,
        **failure.details,
    }


def _describe_commands(name: str, asked: CommandParts, lost: LostNumbers) -> dict[str, Any]:
    """Serialize the caller's commands; for several, also what each asks for."""
    each = [{**_describe_command(name, part, lose_silently), **_describe_place(part, asked)} for part in asked.each]
    told = {**_describe_command(name, asked, lost.of("state update")), **({"commands": each} if each else {})}
    return {**told, "answer_at": asked.place} if asked.place else told


def _describe_place(part: CommandParts, asked: CommandParts) -> dict[str, int]:
    """Record the position of the answer, unless it was the first message of the first command."""
    is_plain = part is asked.each[0] and not part.place
    return {} if is_plain or part.place is None else {"answer_at": part.place}


def _describe_command(name: str, command: CommandParts, lose: Lose) -> dict[str, Any]:
    wishes = {"goto": command.goto or None, "graph": command.graph, "resume": command.resume}
    said = {key: _make_jsonable(name, value, part=key) for key, value in wishes.items() if value is not None}
    return {"state_update": _make_jsonable(name, command.update, lose, "state update"), **said}


def _take_over(name: str, spoken: MessageParts, artifact: Any) -> tuple[Any, Any, dict[str, Any]]:
    """Take over the tool's own message; its artifact takes precedence over the returned one."""
    kwargs = _make_jsonable(name, dict(spoken.additional_kwargs), part="additional_kwargs")
    rest = {"status": spoken.status, "additional_kwargs": kwargs}
    return spoken.content, artifact if spoken.artifact is None else spoken.artifact, rest


def changes_state(message: ToolMessage) -> bool:
    """Return whether a message changes its caller's state."""
    return "state_update" in message.response_metadata


def make_message(invocation: Invocation, told: dict[str, Any], fields: dict[str, Any]) -> ToolMessage:
    """Make a message that answers this call; ids in a tool's own message are overwritten."""
    metadata = _make_metadata(invocation)
    metadata.update(told)
    if fields.get("status") == "error":  # As a message of the tool's own says, or one of LangChain's.
        metadata["error"] = _describe_failure(ToolException(), _word(fields["content"]))
    fields["tool_call_id"] = invocation.call.id
    fields["name"] = invocation.tool.name
    fields["id"] = invocation.id
    fields["response_metadata"] = metadata
    message: ToolMessage = _make(fields)
    return message


def _word(content: Content) -> str:
    """Convert a content to text: its texts if it has any and no image, else JSON."""
    if isinstance(content, str):
        return content
    texts = [part for part in map(read_block, content) if isinstance(part, str)]
    return "\n".join(texts) if texts else to_text(content)


def _make_metadata(invocation: Invocation) -> dict[str, Any]:
    options, remarks, review = invocation.tool.options, invocation.remarks, invocation.request.review
    said: dict[str, Any] = {
        # In whole microseconds; round() would take as long as all else that is made here.
        "duration_ms": int((time.monotonic() - invocation.started) * 1e6 + 0.5) / 1000,
        "return_direct": options.return_direct,
        "ignored_args": remarks.ignored,
        "repaired": remarks.repaired,
    }
    if remarks.verdicts:
        said["guardrails"] = list(remarks.verdicts)
    if options.retry is not None and invocation.attempts:
        said["attempts"] = invocation.attempts
    if invocation.made_context is not None:
        _add_usage(said, invocation.made_context.usage)
    if invocation.cost is not None or options.cost is not None:
        _add_cost(said, invocation)
    if review.rule is not None or review.decision is not None:
        _add_review(said, review, invocation.request.call)
    if remarks.notes:
        said["notes"] = list(remarks.notes)
    return said


def _add_usage(said: dict[str, Any], usage: Usage) -> None:
    """Add what models have used that the tool itself has called."""
    if usage.requests:
        said["usage"] = asdict(usage)


def _add_cost(said: dict[str, Any], invocation: Invocation) -> None:
    cost = find_cost(invocation)
    if cost is not None:
        said["cost"] = cost


def _add_review(said: dict[str, Any], review: Review, call: ToolCall) -> None:
    if review.rule is not None:
        said["approval_rule"] = review.rule.describe()
    decided = review.decision
    if decided is not None and decided.asked_args is not None:
        said["approval"] = {"id": review.approval_id, "decided_by": decided.by, "args": call.args}


def _make_empty_metadata() -> dict[str, Any]:
    """Make the metadata for calls without a tool."""
    return {"duration_ms": 0.0, "return_direct": False, "ignored_args": [], "repaired": []}


def _make_content(name: str, value: Any) -> Content:
    return _say(name, value)[0]


def _say(name: str, value: Any, lose: Lose = lose_silently, part: str | None = None) -> tuple[Content, Any]:
    """Serialize as LangChain does: text and lists of known blocks unchanged, all else as JSON text, never as a repr.

    Returns the content and the value that it represents.
    """
    if isinstance(value, str):
        text = replace_surrogates(str.__str__(value))
        return text, text
    if are_blocks(value):
        blocks: list[Any] = _make_jsonable(name, list(value), lose, part)
        return blocks, blocks
    try:
        return to_text_and_value(value, lose)
    except TooLong as error:
        raise too_long_form(name) from error
    except ValueError as error:
        raise no_json_form(name, value, part) from error


def _make_jsonable(
    name: str,
    value: Any,
    lose: Lose = lose_silently,
    part: str | None = None,
    convert: Callable[[Any, Lose], Any] = to_plain,
) -> Any:
    try:
        return convert(value, lose)
    except TooLong as error:
        raise too_long_form(name) from error
    except ValueError as error:
        raise no_json_form(name, value, part) from error
