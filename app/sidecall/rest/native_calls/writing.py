"""Write a ToolMessage as the answer to a call of a native tool, in the form of its item."""

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel
from pydantic_core import to_json

from sidecall.kernel.core.messages import ToolMessage, find_note
from sidecall.kernel.core.native_results import (
    ACKNOWLEDGED,
    BROWSER_STATE,
    CHECKS,
    DECISION,
    ITEM,
    OUTPUTS,
    PART,
    STEP,
    UNNAMED,
    are_outputs,
    fold_line,
)
from sidecall.rest.dialect_writers import (
    WRITERS,
    find_media,
    word,
    write_anthropic,
    write_gemini,
    write_responses,
)
from sidecall.rest.parsed_call import DialectName

_Item = Mapping[str, Any]
# Exit codes of a shell: not allowed, not found, failed.
_REFUSED, _UNKNOWN, _FAILED = 126, 127, 1
_EXIT_CODES = {
    "unknown_tool": _UNKNOWN,
    # For the last two it is unknown how far the command came.
    **dict.fromkeys(
        ("tool_error", "execution_error", "output_error", "outcome_unknown", "poison", "cancelled"), _FAILED
    ),
}
# Shown without a screenshot, since the answer has room for nothing else: one white point.
_BLANK = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mP4DwABAQEAHLCMmQAAAABJRU5ErkJggg=="
)


def _echo(item: _Item, *names: str) -> dict[str, Any]:
    return {name: item[name] for name in names if name in item}


def _write_function(message: ToolMessage, item: _Item) -> dict[str, Any]:
    return {**write_responses(message), **_echo(item, "caller", "namespace")}


def _write_custom(message: ToolMessage, item: _Item) -> dict[str, Any]:
    return {**write_responses(message), "type": "custom_tool_call_output", **_echo(item, "caller")}


def _find_kind(message: ToolMessage) -> str | None:
    """Return why a call failed, None where it did not."""
    if message.status == "success":
        return None
    error = message.response_metadata.get("error")
    return str(error.get("kind")) if isinstance(error, dict) else "tool_error"


def _write_outputs(message: ToolMessage, item: _Item) -> list[dict[str, Any]]:
    """Write the output of each command; commands that did not run say why."""
    kind, outputs = _find_kind(message), message.additional_kwargs.get(OUTPUTS)
    if kind is None and are_outputs(outputs):
        written = [_write_output(output) for output in outputs]
        note = find_note(message)
        if written and note is not None:
            written[-1]["stderr"] += f"\n{note}" if written[-1]["stderr"] else note
        return written
    if kind is None:
        return [{"stdout": word(message), "stderr": "", "outcome": _write_exit(0)}]
    outcome = {"type": "timeout"} if kind == "timeout" else _write_exit(_EXIT_CODES.get(kind, _REFUSED))
    said = {"stdout": "", "stderr": word(message), "outcome": outcome}
    return [said] * max(1, item.get("commands", 1))


def _write_output(output: Mapping[str, Any]) -> dict[str, Any]:
    code = output.get("exit_code")
    is_ended = not output.get("timed_out")
    outcome = _write_exit(code if isinstance(code, int) else _FAILED) if is_ended else {"type": "timeout"}
    return {"stdout": output["stdout"], "stderr": output["stderr"], "outcome": outcome}


def _write_exit(code: int) -> dict[str, Any]:
    return {"type": "exit", "exit_code": code}


def _write_shell(message: ToolMessage, item: _Item) -> dict[str, Any]:
    """Write the outputs of commands; there is no status for a failure."""
    return {
        "type": "shell_call_output",
        "call_id": message.tool_call_id,
        "output": _write_outputs(message, item),
        "status": "completed",
        **_echo(item, "max_output_length", "caller"),
    }


def _write_local_shell(message: ToolMessage, item: _Item) -> dict[str, Any]:
    """Write the output of a command under both ids: the type has one, other programs send the other.

    Where a person has replaced it by several commands, their outputs are joined, with the exit code of the last.
    """
    outputs = _write_outputs(message, item)
    written = {name: "".join(output[name] for output in outputs) for name in ("stdout", "stderr")}
    output = {**written, "outcome": outputs[-1]["outcome"]}
    return {
        "type": "local_shell_call_output",
        "id": item.get("id", message.tool_call_id),
        "call_id": message.tool_call_id,
        "output": to_json(output).decode(),
        "status": "completed" if message.status == "success" else "incomplete",
    }


def _write_patch(message: ToolMessage, item: _Item) -> dict[str, Any]:
    return {
        "type": "apply_patch_call_output",
        "call_id": message.tool_call_id,
        "status": "completed" if message.status == "success" else "failed",
        "output": word(message),
        **_echo(item, "caller"),
    }


def _write_computer(message: ToolMessage, item: _Item) -> dict[str, Any]:
    images = [medium for medium in find_media(message) if medium.kind == "image"]
    shown: dict[str, Any] = {"image_url": _BLANK}
    if images:
        last = images[-1]
        shown = {"image_url": last.address} if last.address is not None else {"file_id": last.file_id}
    acknowledged = {"acknowledged_safety_checks": item[CHECKS]} if item.get(ACKNOWLEDGED) and CHECKS in item else {}
    return {
        "type": "computer_call_output",
        "call_id": message.tool_call_id,
        "output": {"type": "computer_screenshot", **shown},
        "status": "completed" if message.status == "success" else "incomplete",
        **acknowledged,
    }


def _write_found(message: ToolMessage, _item: _Item) -> dict[str, Any]:
    """Write the tools that a search has found; there is no field for a failure."""
    artifact = message.artifact
    tools = artifact.get("tools") if message.status == "success" and isinstance(artifact, dict) else None
    return {
        "type": "tool_search_output",
        "call_id": message.tool_call_id,
        "execution": "client",
        "status": "completed",
        "tools": tools if isinstance(tools, list) else [],
    }


def _write_decision(message: ToolMessage, _item: _Item) -> dict[str, Any]:
    is_approved = message.status == "success"
    return {
        "type": "mcp_approval_response",
        "approval_request_id": message.tool_call_id,
        "approve": is_approved,
        **({} if is_approved else {"reason": word(message)}),
    }


def _write_member(message: ToolMessage, item: _Item) -> dict[str, Any]:
    """Write the block of a toolset member: for a failure only a text, otherwise with the browser's state last."""
    if message.status == "error":
        content: Any = _format_failure(message)
        return {**write_anthropic(message), "content": content, **_echo(item, "toolset_name")}
    blocks = [] if isinstance(message.content, str) else message.content
    states = [state for block in blocks if (state := _find_state(block)) is not None]
    if not states:
        return {**write_anthropic(message), **_echo(item, "toolset_name")}
    rest = message.model_copy(update={"content": [block for block in blocks if _find_state(block) is None]})
    written = write_anthropic(rest)
    return {**written, "content": [*written["content"], states[-1]], **_echo(item, "toolset_name")}


def _format_failure(message: ToolMessage) -> str:
    texts = message.content if isinstance(message.content, list) else [message.content]
    said = [text if isinstance(text, str) else text.get("text") for text in texts]
    return "\n".join(text for text in said if isinstance(text, str) and text.strip()) or "The tool has failed."


def _find_state(block: Any) -> dict[str, Any] | None:
    extras = block.get("extras") if isinstance(block, dict) else None
    state = extras.get(BROWSER_STATE) if isinstance(extras, dict) else None
    return state if isinstance(state, dict) else None


def _write_browser_state(message: ToolMessage, item: _Item) -> dict[str, Any]:
    """Return Gemini's state of the browser, sent with the screenshot."""
    if not item.get("is_computer"):
        return {}
    blocks = [block for block in message.content if isinstance(block, dict)] if message.content else []
    urls = [block["extras"]["url"] for block in blocks if "url" in (block.get("extras") or {})]
    acknowledged = {"safety_acknowledgement": "true"} if item.get(ACKNOWLEDGED) and DECISION in item else {}
    return {**({"url": urls[-1]} if urls else {}), **acknowledged}


def _write_part(message: ToolMessage, item: _Item) -> dict[str, Any]:
    answer = write_gemini(message)["functionResponse"]
    if UNNAMED in item:
        del answer["id"]
    return {"functionResponse": {**answer, "response": {**answer["response"], **_write_browser_state(message, item)}}}


def _write_step(message: ToolMessage, item: _Item) -> dict[str, Any]:
    """Write a step of Gemini's, with images in its result."""
    images = [medium for medium in find_media(message) if medium.kind == "image"]
    response = write_gemini(message)["functionResponse"]["response"]
    said = next(iter(response.values()))
    told = _write_browser_state(message, item)
    text = to_json({"output": said, **told}).decode() if told else said
    shown = [_write_step_image(image.type, image.data, image.url) for image in images if image.file_id is None]
    return {
        "type": "function_result",
        "call_id": message.tool_call_id,
        "name": message.name,
        "result": [{"type": "text", "text": text}, *shown] if shown else text,
        "is_error": message.status == "error",
    }


def _write_step_image(mime_type: str, data: str | None, url: str | None) -> dict[str, Any]:
    return {"type": "image", "mime_type": mime_type, **({"uri": url} if data is None else {"data": data})}


# By the dialect of the answer, and the type of the call's item.
ITEM_WRITERS: Mapping[tuple[DialectName, str], Callable[[ToolMessage, _Item], dict[str, Any]]] = {
    ("openai-responses", "function_call"): _write_function,
    ("openai-responses", "custom_tool_call"): _write_custom,
    ("openai-responses", "shell_call"): _write_shell,
    ("openai-responses", "local_shell_call"): _write_local_shell,
    ("openai-responses", "apply_patch_call"): _write_patch,
    ("openai-responses", "computer_call"): _write_computer,
    ("openai-responses", "tool_search_call"): _write_found,
    ("openai-responses", "mcp_approval_request"): _write_decision,
    ("anthropic", "tool_use"): _write_member,
    ("gemini", PART): _write_part,
    ("gemini", STEP): _write_step,
}


def write_item(message: ToolMessage, dialect: DialectName) -> BaseModel | dict[str, Any]:
    """Write a ToolMessage as the item of its call if that belongs to the dialect, else in the dialect."""
    item = message.additional_kwargs.get(ITEM) if message.additional_kwargs else None
    if isinstance(item, dict) and (write := ITEM_WRITERS.get((dialect, item.get("type", "")))) is not None:
        return write(message, item)
    return WRITERS[dialect](message)


def name_failure(message: ToolMessage, dialect: DialectName) -> dict[str, str]:
    """Return the header that names a failure, for answers without a field for it."""
    item = message.additional_kwargs.get(ITEM)
    kind = item.get("type") if isinstance(item, dict) else None
    if message.status == "success" or kind not in _WITHOUT_WORDS or dialect != "openai-responses":
        return {}
    is_missing = _find_kind(message) == "unknown_tool" and kind == "computer_call"
    said = _NO_COMPUTER if is_missing else fold_line(_format_failure(message)).encode("ascii", "replace").decode()
    return {ERROR: said[:_MOST_OF_HEADER]}


ERROR = "Sidecall-Error"
_NO_COMPUTER = "No tool works a computer here for this caller: a function with @tool(native='computer') would."
_WITHOUT_WORDS = ("computer_call", "tool_search_call")
_MOST_OF_HEADER = 500
