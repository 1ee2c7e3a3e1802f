"""Routes for past and running calls."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any, Literal, get_args
from uuid import UUID

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from pydantic import AwareDatetime, BeforeValidator
from pydantic_core import PydanticCustomError, to_json

from sidecall.features.calls.all_calls import cancel_call, find_call, list_calls
from sidecall.features.calls.event_stream import EVENTS, LAST, LINES, export_calls, read_last, write_call_events
from sidecall.features.calls.in_flight import wait_in_flight
from sidecall.features.history.rollups import CallSummary, SummaryPart
from sidecall.features.jobs.answers import show_entry
from sidecall.features.jobs.errors import CallNotKept, UnknownCall
from sidecall.features.server_parts import PartsDep
from sidecall.http.disconnect import DisconnectListener
from sidecall.http.fast_path import Reply
from sidecall.http.parameters import (
    WHOLE_NUMBER,
    CallerDep,
    ContextDep,
    LateRoute,
    keep_query,
    must_be_of_link,
    refuse_unknown_parameters,
    write_link,
)
from sidecall.http.preferences import PREFER, read_preferences
from sidecall.http.problems import Problem
from sidecall.http.server_sent_events import MEDIA_TYPE, PieceStream
from sidecall.kernel.concurrency.loop_turns import make_each
from sidecall.kernel.core.context import CallOrigin
from sidecall.kernel.core.errors import ErrorKind, cut_name
from sidecall.kernel.core.scopes import READ
from sidecall.kernel.ports.call_entry import CallEntry, CallFilter, CallStatus
from sidecall.kernel.ports.workspaces import LONGEST, NAMED
from sidecall.rest.dialect_models import AnsweredCall
from sidecall.rest.native_calls.writing import name_failure
from sidecall.rest.openapi import CALLER_PROBLEM, describe_page
from sidecall.rest.parsed_call import DialectName

router = APIRouter(tags=["tool calls"], dependencies=[Depends(refuse_unknown_parameters)], route_class=LateRoute)

_CURSOR = r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"
CallId = Annotated[UUID, Path(description="The invocation's id: `id` of a ToolMessage, or the end of `Location`.")]


def _split(values: Any) -> Any:
    """Read `name,kind` as `name` and `kind`; what is said twice counts once."""
    if not isinstance(values, list):
        return values
    found = dict.fromkeys(part.strip() for value in values for part in str(value).split(","))
    if unknown := [part for part in found if part not in _PARTS]:
        context = {"unknown": cut_name(unknown[0]), "known": ", ".join(_PARTS)}
        raise PydanticCustomError("summary_part", "`{unknown}` is none of {known}", context)
    return list(found)


_PARTS = get_args(SummaryPart)
SummedBy = Annotated[
    list[SummaryPart],
    Query(
        description="What the calls of one group have in common; several with commas between them, as `name,kind`.",
    ),
    BeforeValidator(_split),
]
AnswerForm = Annotated[DialectName, Query(alias="format", description="The form of `message`.")]
_BY_NAME: list[SummaryPart] = ["name"]
MostCalls = Annotated[int, Query(ge=1, le=1000, description="Most calls of one page."), WHOLE_NUMBER]
FromCall = Annotated[
    str | None,
    Query(pattern=_CURSOR, description="Where the page begins: from the `Link` of the one before."),
    must_be_of_link(_CURSOR),
]
OfTools = Annotated[list[str] | None, Query(alias="name", description="Only calls of these tools; repeatable.")]
WithTags = Annotated[
    list[str] | None, Query(alias="tag", description="Only calls of tools with all of these tags; repeatable.")
]
OfStatus = Annotated[CallStatus | None, Query(description="Only calls in this status.")]
OfKind = Annotated[
    Literal[ErrorKind, "internal_error"] | None, Query(description="Only calls that failed for this reason.")
]
OfConversation = Annotated[
    str | None,
    Query(alias="conversation", pattern=NAMED, max_length=LONGEST, description="Only calls of this conversation."),
]
OfTrace = Annotated[str | None, Query(pattern=r"^[0-9a-f]{32}$", description="Only calls of this trace.")]
OfRequest = Annotated[
    str | None,
    Query(pattern=r"^[A-Za-z0-9._:/+=-]{1,128}$", description="Only calls that came with this HTTP request."),
]
OfCaller = Annotated[str | None, Query(alias="caller", description="Only calls of this caller.")]


def _require_date(text: Any) -> Any:
    if isinstance(text, str) and _DATE.match(text) is None:
        raise ValueError("a time as 2026-03-14T09:00:00Z")
    return text


_DATE = re.compile(r"\d{4}-\d{2}-\d{2}[Tt ]")
# No numbers, which pydantic would take for seconds since 1970.
Moment = Annotated[AwareDatetime, BeforeValidator(_require_date)]
# No call is older; and earlier times would leave the calendar when they are rounded to a whole hour.
_FIRST, _LAST = 0.0, datetime(9999, 1, 1, tzinfo=UTC).timestamp()
BeganSince = Annotated[Moment | None, Query(description="Only calls from then on.")]
BeganUntil = Annotated[Moment | None, Query(description="Only calls from before then.")]

_LAST_EVENT_ID: dict[str, Any] = {
    "name": "Last-Event-ID",
    "in": "header",
    "description": "The `id` of the event that you have heard last.",
    "schema": {"type": "string"},
    "example": "7",
}
_UNKNOWN: dict[int | str, dict[str, Any]] = {
    404: {"model": Problem, "description": "There is no such call, or it is not remembered any more."},
    422: {"model": Problem, "description": "A parameter is wrong."},
}
_ONE: dict[int | str, dict[str, Any]] = {
    200: {"model": AnsweredCall, "description": "What is known of the call."},
    **CALLER_PROBLEM,
    **_UNKNOWN,
}


def _to_seconds(time: datetime | None) -> float | None:
    return None if time is None else min(max(time.timestamp(), _FIRST), _LAST)


async def _of_whom(
    parts: PartsDep, caller: CallerDep, names: OfTools = None, tags: WithTags = None, sender: OfCaller = None
) -> CallFilter:
    if tags:  # Those that have it now.
        tagged = [tool.name for tool in parts.registry if set(tags) <= set(tool.options.tags)]
        names = tagged if names is None else [name for name in names if name in tagged]
    if not caller.may(READ):  # They see their own.
        names = names if sender in (None, caller.subject) else []
        sender = caller.subject
    return CallFilter(caller.tenant, names, caller=sender)


async def _of_what(
    conversation_id: OfConversation = None, trace_id: OfTrace = None, request_id: OfRequest = None
) -> CallOrigin:
    return CallOrigin(conversation_id, trace_id, request_id)


def _show(entry: CallEntry) -> dict[str, Any]:
    shown: dict[str, Any] = entry.model_dump(mode="json", exclude={"message"})
    return shown


async def _count(
    of_whom: Annotated[CallFilter, Depends(_of_whom)],
    status: OfStatus = None,
    kind: OfKind = None,
    since: BeganSince = None,
    until: BeganUntil = None,
) -> CallFilter:
    return replace(of_whom, status=status, kind=kind, since=_to_seconds(since), until=_to_seconds(until))


CountedCalls = Annotated[CallFilter, Depends(_count)]


async def _want(counted: CountedCalls, of_what: Annotated[CallOrigin, Depends(_of_what)]) -> CallFilter:
    return replace(counted, **of_what._asdict())


WantedCalls = Annotated[CallFilter, Depends(_want)]


@router.get(
    "/tool_calls",
    operation_id="list_tool_calls",
    summary="List calls",
    response_model=None,
    responses=describe_page(list[AnsweredCall], "A page of calls, newest first."),
)
async def list_tool_calls(
    request: Request, parts: PartsDep, wanted: WantedCalls, limit: MostCalls = 100, cursor: FromCall = None
) -> Response:
    """List calls, newest first, without their answers; a call itself has its answer.

    These are the calls that are remembered, and those that have ended, as far as the history has them. With
    `status=running` they are those that run, plain ones of this server too. Without the scope `calls:read` they are
    your own. A page holds `limit` of them, and fewer when they are large; the header `Link` leads to the next, if
    there is one.
    """
    # Cancelled when the client leaves, so that its place in the database is free for others.
    page = await DisconnectListener(request.receive).over(list_calls(parts, wanted, limit, cursor))
    shown = await make_each(_show, page.calls)
    response = Reply(to_json(shown)).to_response()
    if page.cursor is not None:
        response.headers["Link"] = write_link("/tool_calls", keep_query(request, page.cursor))
    return response


# Before the route of one call, which would take it for an id; so is the next.
@router.get(
    "/tool_calls/summary",
    operation_id="summarize_tool_calls",
    summary="Count calls and their durations",
    response_model=None,
    responses={
        200: {"model": CallSummary, "description": "How many calls ran and failed, and how long they took."},
        **CALLER_PROBLEM,
        404: {"model": Problem, "description": "This server keeps no history."},
        422: {"model": Problem, "description": "A parameter is wrong."},
    },
)
async def summarize_tool_calls(parts: PartsDep, wanted: CountedCalls, by: SummedBy = _BY_NAME) -> Response:
    """Count the calls that ran, by what they have in common, in whole hours around `since` and `until`.

    A remembered call counts each time it ran. Percentiles are right to a tenth. `example_id` is the latest call of a
    group. Without the scope `calls:read` these are your own calls.
    """
    return Reply(to_json(await parts.history.summarize(by, wanted))).to_response()


@router.get(
    "/tool_calls/export",
    operation_id="export_tool_calls",
    summary="Write all calls out",
    response_class=Response,
    response_model=None,
    responses={
        200: {
            "description": "One call a line, newest first, each with its answer.",
            "content": {LINES: {"schema": {"type": "string"}}},
        },
        **CALLER_PROBLEM,
        422: {"model": Problem, "description": "A parameter is wrong."},
    },
)
async def export_tool_calls(parts: PartsDep, wanted: WantedCalls, format: AnswerForm = "langchain") -> Response:
    """Write calls as JSON Lines, with their answers; they come as they are read.

    Where the lines end early because the store fails, the connection is broken off before its proper end.
    """
    lines = export_calls(parts, wanted, format)
    # An error before the first line can be answered with a status.
    return PieceStream(lines, await anext(lines, b""), media_type=LINES)


@router.get(
    "/tool_calls/{call_id:uuid}",
    operation_id="get_tool_call",
    summary="Get a call and its answer",
    response_model=None,
    responses={**_ONE, 503: {"model": Problem, "description": "Too many requests wait for the ends of calls."}},
    openapi_extra={"parameters": [PREFER]},
)
async def get_tool_call(
    request: Request, parts: PartsDep, context: ContextDep, call_id: CallId, format: AnswerForm = "langchain"
) -> Response:
    """Show a call; with `Prefer: wait=10` as soon as it has ended, after ten seconds at the latest."""
    preferences = read_preferences(request.headers, parts.jobs.limits.wait)
    entry = await find_call(parts, str(call_id), context.caller)
    if preferences.wait is not None:
        wait = parts.jobs.wait_for_known if entry.worker is None else partial(wait_in_flight, parts)
        entry = parts.add_tags(await context.while_present(wait(entry, preferences.wait)))
    return _respond(entry, format, preferences.applied)


@router.get(
    "/tool_calls/{call_id:uuid}/events",
    operation_id="watch_tool_call",
    summary="Watch a call",
    response_class=Response,
    response_model=None,
    responses={
        200: {
            "description": "`status`, `progress` and `partial` as they come; at last `message`.",
            "content": {MEDIA_TYPE: {"schema": EVENTS}},
        },
        204: {"description": "`Last-Event-ID` is that of `message`: there is nothing more to come."},
        **CALLER_PROBLEM,
        **_UNKNOWN,
        410: {"model": Problem, "description": "It has ended, and its answer is not kept."},
    },
    openapi_extra={"parameters": [_LAST_EVENT_ID]},
)
async def watch_tool_call(
    request: Request, parts: PartsDep, caller: CallerDep, call_id: CallId, format: AnswerForm = "langchain"
) -> Response:
    """Follow a call as server-sent events: its status, the progress of its tool, and at last its answer.

    `progress` and `partial` come from the server that runs the call, which keeps the last of them until some minutes
    after its end. `Last-Event-ID` continues after the event of that number.
    """
    entry = await find_call(parts, str(call_id), caller)
    if entry.worker is not None:
        raise UnknownCall("The call has no events beside those of its own request; ask for them there.")
    after = read_last(request)
    if after == LAST and entry.has_ended:
        return Response(status_code=204)
    if entry.has_ended and entry.message is None:
        raise CallNotKept("The call has ended, and its answer is not kept: SIDECALL_HISTORY is meta.")
    events = write_call_events(parts, request, entry, 0 if after == LAST else after, format)
    return PieceStream(events, media_type=MEDIA_TYPE, headers={"Cache-Control": "no-cache", "X-Accel-Buffering": "no"})


@router.post(
    "/tool_calls/{call_id:uuid}/cancel",
    operation_id="cancel_tool_call",
    summary="Cancel a call",
    response_model=None,
    responses={**_ONE, 409: {"model": Problem, "description": "It has ended already."}},
)
async def cancel_tool_call(
    parts: PartsDep, caller: CallerDep, call_id: CallId, format: AnswerForm = "langchain"
) -> Response:
    """Cancel a call that runs; what it has done already is not undone.

    A client that waits for a plain call gets an error of the kind `cancelled`. Calls of other callers take
    `server:operate` and `calls:read`.
    """
    return _respond(await cancel_call(parts, str(call_id), caller), format, {})


def _respond(entry: CallEntry, form: DialectName, headers: dict[str, str]) -> Response:
    if not entry.has_ended:
        headers = {**headers, "Retry-After": "1"}
    if entry.message is not None:
        headers = {**headers, **name_failure(entry.message, form)}
    return Reply(show_entry(entry, form), 200, headers).to_response()
