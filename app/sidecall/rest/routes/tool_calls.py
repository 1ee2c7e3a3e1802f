"""Run tools."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import ValidationError
from pydantic_core import to_json

from sidecall.http.answer_headers import CACHE, CACHE_CONTROL, DOCUMENTED, WAITING
from sidecall.http.body import parse_body, read_body, read_json
from sidecall.http.context import RequestContext
from sidecall.http.fast_path import Reply
from sidecall.http.parameters import CallContextDep, LateRoute, refuse_unknown_parameters
from sidecall.http.preferences import DOCUMENTED as PREFERENCES
from sidecall.http.preferences import (
    PARAMETERS,
    PINS,
    PLAIN,
    REPLAYED,
    Preferences,
    read_preferences,
    refuse_for_batch,
    refuse_for_events,
    wants_events,
)
from sidecall.http.problems import Problem
from sidecall.kernel.core.errors import BatchTooLarge, CallbackRefused, InvalidParameter, NotAToolCall, RequestError
from sidecall.kernel.pipeline.batch import answer_for
from sidecall.kernel.pipeline.dry_run import DryRunResult
from sidecall.kernel.ports.approvals.approval import Approval
from sidecall.kernel.registry import Registry
from sidecall.rest.answers import answer_call, answer_calls, find_quota_headers, require_context
from sidecall.rest.dialect_models import Answer, AnsweredCall, Batch, Call, DryRun, SaidMessage
from sidecall.rest.dialect_readers import Shared, read_batched
from sidecall.rest.examples import ANSWERS, BATCH, CALLS
from sidecall.rest.message_calls import drop_talk, find_said_calls
from sidecall.rest.native_calls.answer_models import CallBody
from sidecall.rest.openapi import array_of, one_of
from sidecall.rest.parsed_call import DialectName, ReceivedCall, explain_unfit, make_request
from sidecall.rest.parts import Parts, PartsDep
from sidecall.rest.plain_calls import (
    read_other_call,
    read_plain_call,
    read_plain_calls,
    read_plain_item,
    write_answer,
)
from sidecall.rest.served_examples import name_served, naming_served
from sidecall.rest.stream import EventStream

router = APIRouter(tags=["tool calls"], dependencies=[Depends(refuse_unknown_parameters)], route_class=LateRoute)

AnswerFormat = Annotated[
    DialectName | None, Query(description="The form of the answer; that of the call when left out.")
]

DryRunFlag = Annotated[
    bool, Query(alias="dry_run", description="Check the call and say what it would do; no tool is run.")
]

MissingContextMode = Annotated[
    Literal["refuse", "error"],
    Query(
        description="What becomes of a batch whose program has not sent what a tool needs: `refuse` runs nothing and "
        "answers 422; `error` answers that call with an error, and runs the others."
    ),
]


def _header(description: str, kind: str = "string") -> dict[str, Any]:
    return {"description": description, "schema": {"type": kind}}


_RETRY_AFTER = {"Retry-After": _header("Seconds after which to try again.", "integer")}

_OF_BATCHES = {**DOCUMENTED, **WAITING}

_PROBLEMS: dict[int | str, dict[str, Any]] = {
    400: {"model": Problem, "description": "The body is not JSON, or the header that names the caller is wrong."},
    413: {"model": Problem, "description": "The body is larger than this server takes."},
    415: {"model": Problem, "description": "The body is not declared as JSON."},
    422: {"model": Problem, "description": "The body is not a call, or the caller left something out."},
}


@router.post(
    "/tool_calls",
    operation_id="create_tool_call",
    summary="Run a tool",
    response_model=None,
    responses={
        200: {
            "model": Answer | DryRun,
            "description": "What the model has to be told, whether the call succeeded (`status`) or not.",
            "content": {"application/json": {"examples": ANSWERS}},
            "headers": {**DOCUMENTED, **PREFERENCES, **CACHE},
        },
        202: {
            "model": Approval | AnsweredCall,
            "description": "The call waits for a person's approval, or goes on without you.",
            "headers": {**DOCUMENTED, **PREFERENCES, "Location": _header("Where to ask for it.")},
        },
        **_PROBLEMS,
        403: {
            "model": Problem,
            "description": "A guardrail of the tool refuses it, or a web page sends it that may not use this server.",
            "headers": REPLAYED,
        },
        409: {"model": Problem, "description": "The tool is not what the call is pinned to any more."},
        500: {
            "model": Problem,
            "description": "The tool failed, and its author lets such failures through.",
            "headers": REPLAYED,
        },
        429: {
            "model": Problem,
            "description": "You run as many calls as one caller may, or have made as many as one may in this time.",
            "headers": {**DOCUMENTED, **_RETRY_AFTER},
        },
        503: {"model": Problem, "description": "There is no room for the call.", "headers": _RETRY_AFTER},
    },
    openapi_extra={"requestBody": one_of(Call, CALLS), "parameters": [*PARAMETERS, PINS, CACHE_CONTROL]},
)
async def create_tool_call(
    request: Request, parts: PartsDep, context: CallContextDep, format: AnswerFormat = None, dry_run: DryRunFlag = False
) -> Response:
    """Run one call and answer with what the model has to be told.

    The call may have the form of any provider's model, and the answer has the same. A call that fails is answered with
    200 and says why; 4xx is for what the calling program, not the model, has to mend. A call that a person has to
    approve first is answered with 202; ask for it where `Location` says. So is one sent with `Prefer: respond-async`,
    or with `Prefer: wait=10` when it takes longer than ten seconds: it goes on without you. With an `Idempotency-Key`
    it runs once, however often it is sent. With `Accept: text/event-stream` the answer comes as server-sent events:
    `progress` and `partial` while the tool runs (`missed` where some were left out), then `message` (or `approval`, or
    `problem`; `error` when the server ends before).
    """
    body = await read_body(request, parts.bounds)
    preferences = read_preferences(request.headers, parts.durable.longest_wait)
    if dry_run:
        return (await dry_run_call(parts, _read_call(parts, body, context), context, format)).to_response()
    if _wants_events(request):
        return begin_events(parts, request, body, context, format, preferences)
    return (await context.while_present(answer_call(parts, body, context, format, preferences))).to_response()


def begin_events(
    parts: Parts,
    request: Request,
    body: bytes,
    context: RequestContext,
    form: DialectName | None = None,
    preferences: Preferences = PLAIN,
) -> Response:
    """Return the stream of the call in a body.

    Raises:
        RequestError: The calling program has to mend something.
    """
    sent = _read_call(parts, body, context)
    if preferences is not PLAIN:
        refuse_for_events(preferences)
    if sent.callback_url is not None:
        _refuse_callbacks([sent])
    return EventStream(parts, request, sent, context, form)


def _read_call(parts: Parts, body: bytes, context: RequestContext) -> ReceivedCall:
    sent = read_plain_call(body, parts.registry)
    if sent is None:
        with naming_served(parts.registry, context.caller):
            sent = read_other_call(body, parts.registry)
    return sent


@router.post(
    "/tool_calls/batch",
    operation_id="create_tool_call_batch",
    summary="Run the calls of one turn",
    response_model=None,
    responses={
        200: {
            "model": list[Answer | DryRun],
            "description": "The answers, in the order of the calls.",
            "headers": _OF_BATCHES,
        },
        **_PROBLEMS,
    },
    openapi_extra={"requestBody": array_of(Call, (Batch, SaidMessage), BATCH)},
)
async def create_tool_call_batch(
    request: Request,
    parts: PartsDep,
    context: CallContextDep,
    format: AnswerFormat = None,
    dry_run: DryRunFlag = False,
    missing_context: MissingContextMode = "refuse",
) -> Response:
    """Run calls concurrently and answer each in its place; one that fails harms no other.

    What a model has said may be sent as it is: its message, or the items of its answer. When one element is not a call,
    or a tool needs what the program has not sent, nothing is run and the 422 says which. With `Accept:
    text/event-stream` each answer comes as an event as soon as it is ready.
    """
    refuse_for_batch(read_preferences(request.headers, parts.durable.longest_wait))
    body = await read_json(request, parts.bounds)
    with naming_served(parts.registry, context.caller):
        calls = _read_batch(body, parts.bounds.calls, parts.registry)
    _refuse_callbacks(calls)
    if context.pinned is not None:
        raise InvalidParameter("`If-Match` goes with one call; in a batch each call has its own `hash`.")
    if missing_context == "refuse":
        await require_context(parts, calls, context)
    if dry_run:
        return (await dry_run_calls(parts, calls, context, format)).to_response()
    if _wants_events(request):
        return EventStream(parts, request, calls, context, format)
    return (await context.while_present(answer_calls(parts, calls, context, format))).to_response()


def _wants_events(request: Request) -> bool:
    return wants_events(",".join(request.headers.getlist("accept")))


def _refuse_callbacks(calls: Sequence[ReceivedCall]) -> None:
    """Refuse calls with a webhook where the answer is awaited.

    Raises:
        CallbackRefused: One wants its end to be told elsewhere.
    """
    if any(sent.callback_url is not None for sent in calls):
        raise CallbackRefused(
            "`callback_url` is for one call that is not waited for: it goes neither with a batch nor with events."
        )


def _open_batch(body: Any) -> tuple[list[Any], Shared]:
    """Return the calls of a batch or of a model's message, and what applies to all of them."""
    if isinstance(body, list):
        return drop_talk(body), Shared()
    if (said := find_said_calls(body)) is not None:
        return said.calls, _read_beside(body)
    try:
        batch = Batch.model_validate(_open_inner(body))
    except ValidationError:
        text = 'A batch is a JSON array of calls, or {"calls": [...]}; send one call to POST /tool_calls.'
        raise NotAToolCall(text, example=[CALLS["langchain"]["value"]]) from None
    return drop_talk(batch.calls), Shared(batch.state, batch.context or {}, batch.callback_url)


def _open_inner(body: Any) -> Any:
    said = find_said_calls(body.get("calls")) if isinstance(body, dict) else None
    return body if said is None else {**body, "calls": said.calls}


def _read_beside(message: dict[str, Any]) -> Shared:
    try:
        names = ("state", "context", "hash", "callback_url")
        beside = CallBody.model_validate({name: message.get(name) for name in names})
    except ValidationError as error:
        raise explain_unfit("an assistant message", error, [CALLS["openai"]["value"]]) from None
    return Shared(beside.state, beside.context or {}, beside.callback_url)


def _read_batch(body: Any, limit: int, registry: Registry) -> list[ReceivedCall]:
    items, shared = _open_batch(body)
    if len(items) > limit:
        raise BatchTooLarge(f"The batch holds {len(items)} calls; this server takes {limit} at once.")
    calls: list[ReceivedCall] = []
    errors: list[dict[str, Any]] = []
    example: Any = None
    for index, item in enumerate(items):
        try:
            calls.append(shared.complete(read_plain_item(item, registry) or read_batched(item, registry)))
        except NotAToolCall as error:
            errors.append({"loc": [index], "type": "not_a_tool_call", "msg": error.message})
            example = example or error.members.get("example")
    if errors:
        where = "; ".join(f"[{error['loc'][0]}] {error['msg']}" for error in errors)
        shown = {} if example is None else {"example": [example]}
        raise NotAToolCall(f"Nothing was run: {where}", errors=errors, **shown)
    return calls


async def answer_batch(parts: Parts, body: bytes, context: RequestContext) -> Reply:
    """Run the calls in a body, of a request that asks for nothing else.

    Raises:
        RequestError: The calling program has to mend something.
    """
    return await answer_calls(parts, await _read_calls(parts, body, context), context)


async def begin_events_of_batch(parts: Parts, request: Request, body: bytes, context: RequestContext) -> Response:
    """Return the stream of these calls.

    Raises:
        RequestError: The calling program has to mend something.
    """
    return EventStream(parts, request, await _read_calls(parts, body, context), context, None)


async def _read_calls(parts: Parts, body: bytes, context: RequestContext) -> list[ReceivedCall]:
    calls = read_plain_calls(body, parts.bounds.calls, parts.registry) or _read_other_calls(parts, body, context)
    await require_context(parts, calls, context)
    return calls


def _read_other_calls(parts: Parts, body: bytes, context: RequestContext) -> list[ReceivedCall]:
    try:
        calls = _read_batch(parse_body(body), parts.bounds.calls, parts.registry)
    except NotAToolCall as error:
        name_served(error, parts.registry, context.caller)
        raise
    _refuse_callbacks(calls)
    return calls


async def dry_run_call(
    parts: Parts, sent: ReceivedCall, context: RequestContext, form: DialectName | None = None
) -> Reply:
    """Return what a call would do, without running it; it counts against quotas.

    Raises:
        RequestError: The calling program has to mend something.
    """
    if sent.callback_url is not None:
        parts.require_callback(sent.callback_url)
    try:
        result = await parts.pipeline.dry_run(make_request(sent, context))
    except RequestError as error:
        error.quotas = error.quotas or parts.pipeline.gate.quotas_of(context.caller, sent.call.name)
        raise
    headers = find_quota_headers(parts, context.caller, sent.call.name)
    return Reply(to_json(_write_dry_run(sent, result, form)), 200, headers)


async def dry_run_calls(
    parts: Parts, calls: Sequence[ReceivedCall], context: RequestContext, form: DialectName | None = None
) -> Reply:
    """Return what the calls of a batch would do, in order."""
    results = []
    for sent in calls:
        request = make_request(sent, context)
        try:
            result = await parts.pipeline.dry_run(request)
        except RequestError as error:
            result = DryRunResult(message=answer_for(request, error))
        results.append(_write_dry_run(sent, result, form))
    return Reply(to_json(results), 200, find_quota_headers(parts, context.caller))


def _write_dry_run(sent: ReceivedCall, result: DryRunResult, form: DialectName | None) -> DryRun:
    message = result.message
    return DryRun(
        would_run=result.would_run,
        name=sent.call.name,
        tool_call_id=sent.call.id,
        args=result.args if message is None else None,
        requires_approval=result.requires_approval,
        repaired=result.repaired,
        ignored_args=result.ignored,
        preview=result.preview.shown,
        preview_error=result.preview.error,
        message=None if message is None else write_answer(message, form or sent.dialect),
        approval=result.approval,
        sign_in=result.sign_in,
    )
