"""Answer a call with the plain result of its tool, or with a problem."""

from collections.abc import Coroutine, Mapping
from typing import Any

from fastapi import Request
from pydantic_core import to_json
from starlette.types import Scope

from sidecall.features.jobs.answers import accept_call, is_remembered, write_entry
from sidecall.features.server_parts import Parts
from sidecall.http.answer_headers import cache_headers, quota_headers
from sidecall.http.fast_path import NO_HEADERS, Reply
from sidecall.http.preferences import PLAIN, Preferences
from sidecall.http.problems import MEDIA_TYPE, PROBLEM, problem
from sidecall.kernel.core.content_blocks import holds_media
from sidecall.kernel.core.errors import ErrorKind, RequestError
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.messages import ABSENT, NOTES, ToolMessage, find_artifact, find_value, say_not_kept
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.json_data.large_values import is_bulky
from sidecall.kernel.pipeline.hooks import is_visible
from sidecall.kernel.pipeline.pipeline import Answering
from sidecall.kernel.ports.approvals.approval import ApprovalRequired
from sidecall.kernel.ports.contents import JSON
from sidecall.rest.answers import answer_instead, content_url, write_json
from sidecall.rest.dialect_writers import write_openai
from sidecall.rest.served_examples import make_arguments

# The status and title of each kind of failure, for programs that know HTTP only.
_PROBLEMS: Mapping[ErrorKind, tuple[int, str]] = {
    "unknown_tool": (404, "There is no such tool, or it is not visible to you."),
    "malformed_arguments": (422, "The arguments are no JSON object."),
    "invalid_arguments": (422, "The arguments do not fit the tool."),
    "tool_error": (400, "The tool says that it cannot do this."),
    "execution_error": (500, "The tool failed."),
    "not_configured": (500, "The tool lacks what nobody has set on the server."),
    "output_error": (500, "The tool answered with something that cannot be sent."),
    "outcome_unknown": (500, "The server ended while the tool ran."),
    "poison": (500, "The call has ended each worker that ran it."),
    "timeout": (504, "The tool did not answer in time."),
    "denied": (403, "A guardrail refuses the call."),
    "rejected": (403, "A person has not approved the call."),
    "expired": (409, "Nobody has decided about the call in time."),
    "contract_changed": (409, "The tool is not what the call is pinned to any more."),
    "key_reused": (422, "The key was used before, for another call."),
    "cancelled": (409, "The call was cancelled."),
}
_NULL = {"type": "null"}
# Characters of a text that takes no time to write, and values that take none.
_SHORT = 64 * 1024
_SINGLE = frozenset((str, int, float, bool, type(None)))
# What an answer's metadata has of it that stands in headers, or behind the text.
_BESIDE = frozenset(("artifact_url", "cache", *NOTES))


def begin_operation(parts: Parts, scope: Scope, request: CallRequest) -> Reply | Coroutine[Any, Any, Reply]:
    """Run a call, and answer with its tool's result: at once, or through an awaitable that must be awaited first.

    Raises:
        RequestError: The request is wrong, or there is no room.
    """
    tool = parts.registry.get(request.call.name)
    if tool is None or is_remembered(tool):
        return answer_operation(parts, scope, request, PLAIN)
    try:
        came = parts.pipeline.begin(request, tool)
        if not isinstance(came, ToolMessage) or parts.pipeline.gate.counts(tool) or not _is_plain(tool, came):
            return answer_operation(parts, scope, request, PLAIN, came)
        value = find_value(came)
        body = to_json(came.content if value is ABSENT else value)
    except BaseException as error:
        reply = answer_instead(parts, request, error)
        if reply is None:
            raise
        return reply
    if parts.pipeline.results.shares:
        parts.pipeline.results.release(request.sender.holder)
    return Reply(body, 200, NO_HEADERS)


def _is_plain(tool: CompiledTool, message: ToolMessage) -> bool:
    """Return whether an answer is a short result with nothing to say beside it."""
    said = message.__dict__  # At once, since a model looks far for each attribute.
    content, told = said["content"], said["response_metadata"]
    if (
        said["status"] == "error"
        or type(content) is not str
        or len(content) > _SHORT
        or said["artifact"] is not None
        or said["additional_kwargs"]
        or not _BESIDE.isdisjoint(told)
    ):
        return False
    value = find_value(message)
    if value is ABSENT:
        return (tool.results is None or tool.says_values) and content != "null"
    return type(value) in _SINGLE or not is_bulky(value)


async def answer_operation(
    parts: Parts, scope: Scope, request: CallRequest, preferences: Preferences, came: Answering | None = None
) -> Reply:
    """Do the same for all calls; `came` is what the pipeline has begun with.

    Raises:
        RequestError: The request is wrong, or there is no room.
    """
    tool = parts.registry.get(request.call.name)
    try:
        wants_memory = came is None and tool is not None and (preferences is not PLAIN or is_remembered(tool))
        if tool is not None and wants_memory and await is_visible(tool, request.sender.caller, request.context):
            answer, headers = await _remember(parts, request, tool, preferences)
            if isinstance(answer, Reply):
                return answer
        else:
            came = parts.pipeline.begin(request, tool) if came is None else came
            answer = came if isinstance(came, ToolMessage) else await came
            headers = _quota_headers(parts, request) if parts.pipeline.gate.counts(tool) else {}
        tool = parts.registry.get(request.call.name)
        if answer.status == "error" or tool is None:
            return _refuse(scope, answer, tool, headers)
        return await _write(parts, scope, tool, answer, request, headers)
    except (ApprovalRequired, RequestError) as error:
        reply = answer_instead(parts, request, error)
        if reply is None:
            raise
        return reply
    finally:
        if parts.pipeline.results.shares:
            parts.pipeline.results.release(request.sender.holder)


async def _remember(
    parts: Parts, request: CallRequest, tool: CompiledTool, preferences: Preferences
) -> tuple[ToolMessage | Reply, dict[str, str]]:
    entry, headers = await accept_call(parts, request, tool, preferences)
    if entry.message is not None:
        return entry.message, headers
    return await write_entry(parts, entry, "langchain", headers, tool), headers


def _quota_headers(parts: Parts, request: CallRequest) -> dict[str, str]:
    return quota_headers(parts.pipeline.gate.quotas_of(request.sender.caller, request.call.name))


async def _write(
    parts: Parts, scope: Scope, tool: CompiledTool, message: ToolMessage, request: CallRequest, headers: dict[str, str]
) -> Reply:
    value = await _read_result(parts, tool, message, request)
    if value is ABSENT:
        return _make_problem(scope, "output_error", f"Error: {say_not_kept(tool.name)}", {}, headers)
    told = message.response_metadata
    is_text = find_artifact(message) is None and "artifact_url" not in told and isinstance(message.content, str)
    links = [] if is_text else await _list_links(parts, message, request)
    headers = headers | (cache_headers(told["cache"]) if "cache" in told else {})
    headers |= {"Link": ", ".join(links)} if links else {}
    return Reply(await write_json(parts, value, value), 200, headers)


async def _read_result(parts: Parts, tool: CompiledTool, message: ToolMessage, request: CallRequest) -> Any:
    """Return the value of a tool's return annotation, complete, or the value from another server.

    For other tools it is the text that models read; ABSENT if the value is no longer there.
    """
    value = find_value(message)
    if value is not ABSENT or (tool.results is not None and not tool.says_values):
        return value
    if tool.output_schema == _NULL and message.content == "null":
        return None
    return await _write_text(parts, message, request)


async def _write_text(parts: Parts, message: ToolMessage, request: CallRequest) -> str:
    """Convert a content to text; images and files are kept, and the text has their address."""
    url = None
    if not isinstance(message.content, str) and holds_media(message.content):
        url = content_url(await parts.contents.keep(to_json(message.content), request.sender.caller, JSON))
    said = write_openai(message, url)["content"]
    return said if isinstance(said, str) else "\n".join(part["text"] for part in said)


async def _list_links(parts: Parts, message: ToolMessage, request: CallRequest) -> list[str]:
    """List the links to the rest of an answer: what was cut, images next to a value, and the artifact."""
    found = []
    if (whole := message.response_metadata.get("artifact_url")) is not None:
        found.append(f'<{whole}>; rel="alternate"; title="whole"')
    if find_value(message) is not ABSENT and holds_media(message.content):
        shown = content_url(await parts.contents.keep(to_json(message.content), request.sender.caller, JSON))
        found += [] if shown is None else [f'<{shown}>; rel="alternate"; title="content"']
    if (held := find_artifact(message)) is not None:
        body = await write_json(parts, held, held)
        artifact = content_url(await parts.contents.keep(body, request.sender.caller, JSON))
        found += [] if artifact is None else [f'<{artifact}>; rel="related"; title="artifact"']
    return found


def _refuse(scope: Scope, message: ToolMessage, tool: CompiledTool | None, headers: dict[str, str]) -> Reply:
    # A tool's own error message has no kind.
    error = message.response_metadata.get("error", {})
    said = write_openai(message)["content"]
    detail = said if isinstance(said, str) else "\n".join(part["text"] for part in said)
    told = {name: error[name] for name in ("errors", "nearest") if error.get(name)}
    if error.get("retry_after_ms") is not None:
        told["retry_after"] = max(1, round(error["retry_after_ms"] / 1000))
        headers = headers | {"Retry-After": str(told["retry_after"])}
    kind = error.get("kind", "tool_error")
    if kind in ("invalid_arguments", "malformed_arguments") and tool is not None:
        told["example"] = make_arguments(tool)
    return _make_problem(scope, kind, detail, {"retryable": error.get("retryable", False), **told}, headers)


def _make_problem(
    scope: Scope, kind: ErrorKind, detail: str, members: Mapping[str, Any], headers: Mapping[str, str]
) -> Reply:
    status, title = _PROBLEMS.get(kind, _PROBLEMS["execution_error"])
    slug = kind.replace("_", "-")
    response = problem(Request(scope), status, slug, title, detail, **members)
    scope[PROBLEM] = slug, title  # What a tool says is logged with results alone.
    return Reply(bytes(response.body), status, headers, MEDIA_TYPE)
