"""Answer durable calls: those with a key, and those whose client does not wait for the end."""

import re
from typing import Any

from fastapi import FastAPI, Request, Response
from pydantic_core import to_json

from sidecall.authoring.inputs import new_call_id
from sidecall.features.calls.all_calls import find_sent
from sidecall.features.jobs.errors import NotRepeatable, UnknownCall
from sidecall.features.jobs.idempotency_keys import make_call_key, make_replay_key
from sidecall.features.jobs.records import CallCompletion
from sidecall.features.jobs.state_machine import may_repeat
from sidecall.features.jobs.stores import AcceptedCall
from sidecall.features.jobs.submission import Submission, Submitted, entry_of
from sidecall.features.server_parts import Parts
from sidecall.http.answer_headers import cache_headers, quota_headers
from sidecall.http.context import RequestContext
from sidecall.http.fast_path import Reply
from sidecall.http.preferences import Preferences
from sidecall.http.problems import answer, answer_http
from sidecall.kernel.core.errors import UnknownTool
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.messages import ToolMessage
from sidecall.kernel.core.sender import Deadline, Sender
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.pipeline.batch import find_problem
from sidecall.kernel.pipeline.hooks import is_visible
from sidecall.kernel.ports.call_entry import CallEntry
from sidecall.rest.native_calls.writing import name_failure
from sidecall.rest.parsed_call import DialectName, ReceivedCall
from sidecall.rest.plain_calls import write_answer

# Seconds after which a client should ask first.
_ASK_AFTER = "1"


async def answer_remembered(
    parts: Parts,
    request: CallRequest,
    tool: CompiledTool,
    preferences: Preferences,
    context: RequestContext,
    sent: ReceivedCall | None = None,
) -> Reply:
    """Accept a call, and answer with its result, or with the address of it.

    A disconnect is noticed only while the client waits for a longer call.

    Args:
        parts: The parts of the server.
        request: The call.
        tool: Its tool.
        preferences: How long its client waits.
        context: The context of the request.
        sent: The call as it was parsed; None for the usual form.

    Raises:
        RequestError: The request is wrong, or there is no room.
    """
    form: DialectName = "langchain"
    callback_url, is_async = None, preferences.is_async or tool.options.background
    if sent is not None:
        form, callback_url = sent.dialect, sent.callback_url
        is_async = is_async or sent.is_async or callback_url is not None  # As `goes_on_alone` says.
    if callback_url is not None:
        parts.receivers.find(callback_url)
    gate = parts.pipeline.gate
    is_counted = gate.counts(tool)
    # Most are spared a coroutine.
    if is_counted or gate.has_checks or tool.injections or request.sender.pinned is not None:
        await _admit(parts, request, tool)
    how = _choose_how(parts, request, tool, preferences, is_async, callback_url)
    submitted = await parts.jobs.submit(request, how)
    headers = _make_headers(parts, submitted, request, preferences, is_counted=is_counted)
    if isinstance(submitted, AcceptedCall) and submitted.end is not None:
        if how.waits:
            _raise_problem(submitted.end.message, submitted)
        return _write_end(submitted.end, form, headers)
    entry = entry_of(submitted)
    if preferences.wait or not is_async:
        waiting = _wait(parts, submitted, entry, preferences, request.sender.deadline, is_async=is_async)
        entry = await context.while_present(waiting)
    if how.waits:
        _raise_problem(entry.message, submitted)
    return await write_entry(parts, entry, form, headers, tool)


async def accept_call(
    parts: Parts, request: CallRequest, tool: CompiledTool, preferences: Preferences
) -> tuple[CallEntry, dict[str, str]]:
    """Accept a call, wait as long as its client does, and return its entry and headers.

    Raises:
        RequestError: The request is wrong, or there is no room.
    """
    is_async = preferences.is_async or tool.options.background
    await _admit(parts, request, tool)
    how = _choose_how(parts, request, tool, preferences, is_async)
    submitted = await parts.jobs.submit(request, how)
    entry = await _wait(parts, submitted, entry_of(submitted), preferences, request.sender.deadline, is_async=is_async)
    if how.waits:
        _raise_problem(entry.message, submitted)
    is_counted = parts.pipeline.gate.counts(tool)
    return entry, _make_headers(parts, submitted, request, preferences, is_counted=is_counted)


def _choose_how(
    parts: Parts,
    request: CallRequest,
    tool: CompiledTool,
    preferences: Preferences,
    is_async: bool,
    callback_url: str | None = None,
) -> Submission:
    key, wait = None, preferences.wait
    if preferences.key is not None or tool.options.idempotency is not None:
        key = make_call_key(request, tool, preferences.key, parts.jobs.limits.key_ttl)
    # Positional: keyword arguments would cost as much as a stage.
    return Submission(key, not is_async and wait is None, None, callback_url, not is_async or bool(wait))


async def answer_replay(
    parts: Parts, call_id: str, context: RequestContext, preferences: Preferences, form: DialectName, *, insists: bool
) -> Reply:
    """Accept a repetition of an earlier call, and answer with the address of its result.

    Args:
        parts: The parts of the server.
        call_id: The id of the earlier call.
        context: The context of the request.
        preferences: How long its client waits.
        form: The form of the answer.
        insists: Whether to repeat it even if its tool is not marked as repeatable.

    Raises:
        RequestError: It cannot be repeated, or there is no room.
    """
    limits = parts.jobs.limits
    record = await find_sent(parts, call_id, context.caller.tenant)
    name = record.tool_call.name
    tool = parts.registry.get(name)
    if tool is None or not await is_visible(tool, context.caller, record.context):
        raise UnknownTool(f"The call cannot be repeated: there is no tool {name} any more.")
    if not (insists or may_repeat(tool)):
        raise NotRepeatable(
            f"{name} is neither read-only nor idempotent, so it may do twice what it should do once. "
            'Send {"insist": true} to run it again all the same.',
            example={"insist": True},
        )
    # Under its own id it would count as repeated, and get the old answer.
    call = record.tool_call.model_copy(update={"id": new_call_id()})
    # The headers of this request: those of the first call may name another caller.
    request = CallRequest(
        call,
        Sender(context.headers, context.caller, deadline=context.deadline),
        record.state,
        record.context,
    )
    key = None if preferences.key is None else make_replay_key(request, call_id, preferences.key, limits.key_ttl)
    await _admit(parts, request, tool)
    submitted = await parts.jobs.submit(request, Submission(key, replay_of=call_id))
    entry = await _wait(parts, submitted, entry_of(submitted), preferences, request.sender.deadline, is_async=True)
    is_counted = parts.pipeline.gate.counts(tool)
    headers = _make_headers(parts, submitted, request, preferences, is_counted=is_counted)
    return await write_entry(parts, entry, form, headers, tool)


def _raise_problem(message: ToolMessage | None, submitted: Submitted) -> None:
    """Raise the problem that a tool's author declared, for a client that waits for the end, also on repetition."""
    if message is not None and message.status == "error":
        problem = find_problem(message)
        if problem is not None:
            problem.is_replayed = isinstance(submitted, CallEntry)
            raise problem


async def _admit(parts: Parts, request: CallRequest, tool: CompiledTool) -> None:
    """Refuse an invalid call, and count it."""
    gate = parts.pipeline.gate
    if tool.injections:
        missing = await parts.pipeline.find_missing(request)
        if missing is not None:
            raise missing
    if request.sender.pinned is not None:
        gate.hold(request, tool)
    if gate.counts(tool):
        await gate.count(request, tool)
    if gate.has_checks:
        await gate.check(request, tool)


async def _wait(
    parts: Parts,
    submitted: Submitted,
    entry: CallEntry,
    preferences: Preferences,
    deadline: Deadline | None,
    *,
    is_async: bool,
) -> CallEntry:
    seconds = preferences.wait if preferences.wait is not None else (0.0 if is_async else None)
    if deadline is not None and (entry is submitted or entry.status != "running"):
        # A call of this request has ended by then, with the reason.
        seconds = deadline.left if seconds is None else min(seconds, deadline.left)
    wait = parts.jobs.wait_for_known if entry is submitted else parts.jobs.wait
    return await wait(entry, seconds, _waits_for_person if preferences.wait is None else _never)


def _make_headers(
    parts: Parts, submitted: Submitted, request: CallRequest, preferences: Preferences, *, is_counted: bool
) -> dict[str, str]:
    headers = preferences.applied
    if is_counted:
        headers |= quota_headers(parts.pipeline.gate.quotas_of(request.sender.caller, request.call.name))
    if isinstance(submitted, CallEntry):
        headers["Idempotency-Replayed"] = "true"
    return headers


def _waits_for_person(entry: CallEntry) -> bool:
    return entry.status == "awaiting_approval"


def _never(_entry: CallEntry) -> bool:
    return False


def _write_end(end: CallCompletion, form: DialectName, headers: dict[str, str]) -> Reply:
    """Write the answer of a call that has just ended, using the stored text where there is one."""
    message, said = end.message, end.message.__dict__  # At once, since a model looks far for each attribute.
    if "cache" in said["response_metadata"]:
        headers |= _add_cache_status(message, headers)
    if form == "langchain" and not said["additional_kwargs"]:
        return Reply(end.write(), 200, headers)
    return Reply(to_json(write_answer(message, form)), 200, {**headers, **name_failure(message, form)})


def _add_cache_status(message: ToolMessage, headers: dict[str, str]) -> dict[str, str]:
    """Note whether the answer came from a cache; not for a replayed answer."""
    cached = message.response_metadata.get("cache")
    return {} if cached is None or "Idempotency-Replayed" in headers else cache_headers(cached)


async def write_entry(
    parts: Parts, entry: CallEntry, form: DialectName, headers: dict[str, str], tool: CompiledTool
) -> Reply:
    """Write the answer of an ended call, or the entry of another one, with the present tags of its tool."""
    if entry.message is not None:
        told = _add_cache_status(entry.message, headers) | name_failure(entry.message, form)
        return Reply(to_json(write_answer(entry.message, form)), 200, {**headers, **told})
    if entry.status == "awaiting_approval" and entry.approval_id is not None:
        approval = (await parts.approvals.get(entry.approval_id)).approval
        return Reply(to_json(approval), 202, {**headers, "Location": f"/approvals/{approval.id}"})
    return Reply(
        show_entry(entry if entry.tags is not None else add_tags(entry, tool), form),
        202,
        {**headers, "Location": f"/tool_calls/{entry.id}", "Retry-After": _ASK_AFTER},
    )


def add_tags(entry: CallEntry, tool: CompiledTool) -> CallEntry:
    """Add the present tags of its tool to a call."""
    return entry.model_copy(update={"tags": tuple(tool.options.tags)})


def show_entry(entry: CallEntry, form: DialectName = "langchain") -> bytes:
    """Write the entry of a call, with its message in this dialect."""
    shown: dict[str, Any] = entry.model_dump(mode="json", exclude={"message"})
    return to_json({**shown, "message": None if entry.message is None else write_answer(entry.message, form)})


def is_remembered(tool: CompiledTool) -> bool:
    """Return whether every call of a tool is remembered."""
    return tool.options.background or tool.options.idempotency is not None


def goes_on_alone(sent: ReceivedCall) -> bool:
    """Return whether a call asks to run without a waiting client."""
    return sent.is_async or sent.callback_url is not None


# Valid ids have routes of their own.
_PATH = re.compile(r"/tool_calls/[^/]+(?:/(?:events|cancel|replay))?", re.DOTALL)


def answer_unknown_calls(app: FastAPI) -> None:
    """Answer requests about calls so that no route was found for."""
    app.add_exception_handler(404, _answer_unrouted)


async def _answer_unrouted(request: Request, error: Exception) -> Response:
    is_of_call = _PATH.fullmatch(request.scope["path"]) is not None
    return await (answer(request, UnknownCall()) if is_of_call else answer_http(request, error))
