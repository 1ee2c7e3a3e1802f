"""Run tools."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from sidecall.core.approval import Approval
from sidecall.core.errors import BatchTooLarge, NotAToolCall
from sidecall.core.messages import ToolMessage
from sidecall.http.body import read_body, read_json
from sidecall.http.events import wants_events
from sidecall.http.problems import Problem
from sidecall.http.quota import DOCUMENTED
from sidecall.rest.answers import answer_call, answer_calls
from sidecall.rest.dialects import DialectName, ReceivedCall, read_call, read_call_text
from sidecall.rest.examples import ANSWERS, BATCH, CALLS
from sidecall.rest.openapi import array_of, one_of
from sidecall.rest.parts import ContextDep, PartsDep
from sidecall.rest.stream import EventStream
from sidecall.rest.wire import (
    AnthropicToolResult,
    AnthropicToolUse,
    LangChainToolCall,
    OpenAIToolCall,
    OpenAIToolMessage,
    ResponsesFunctionCall,
    ResponsesFunctionCallOutput,
)

router = APIRouter(tags=["tool calls"])

AnswerFormat = Annotated[
    DialectName | None, Query(description="The form of the answer; that of the call when left out.")
]

Call = LangChainToolCall | OpenAIToolCall | ResponsesFunctionCall | AnthropicToolUse
Answer = ToolMessage | OpenAIToolMessage | ResponsesFunctionCallOutput | AnthropicToolResult


def _header(description: str, kind: str = "string") -> dict[str, Any]:
    return {"description": description, "schema": {"type": kind}}


_RETRY_AFTER = {"Retry-After": _header("Seconds after which to try again.", "integer")}
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
            "model": Answer,
            "description": "What the model has to be told, whether the call succeeded (`status`) or not.",
            "content": {"application/json": {"examples": ANSWERS}, "text/event-stream": {}},
            "headers": DOCUMENTED,
        },
        202: {
            "model": Approval,
            "description": "The call waits for a person's approval.",
            "headers": {**DOCUMENTED, "Location": _header("Where to ask for it.")},
        },
        **_PROBLEMS,
        403: {"model": Problem, "description": "A guardrail of the tool refuses the request."},
        500: {"model": Problem, "description": "The tool failed, and its author lets such failures through."},
        429: {
            "model": Problem,
            "description": "You run as many calls as one caller may, or have made as many as one may in this time.",
            "headers": {**DOCUMENTED, **_RETRY_AFTER},
        },
        503: {"model": Problem, "description": "There is no room for the call.", "headers": _RETRY_AFTER},
    },
    openapi_extra={"requestBody": one_of(Call, CALLS)},
)
async def create_tool_call(
    request: Request, parts: PartsDep, context: ContextDep, format: AnswerFormat = None
) -> Response:
    """Run one call and answer with what the model has to be told.

    The call may have the form of any provider's model, and the answer has the same. A call that fails is answered with
    200 and says why; 4xx is for what the calling program, not the model, has to mend. A call that a person has to
    approve first is answered with 202; ask for it where `Location` says. With `Accept: text/event-stream` the answer
    comes as server-sent events: `progress` and `partial` while the tool runs, then `message` (or `approval`, or
    `problem`; `error` when the server ends before).
    """
    body = await read_body(request, parts.bounds)
    if wants_events(request):
        return EventStream(parts, request, read_call_text(body), context, format)
    return (await context.while_present(answer_call(parts, body, context, format))).to_response()


@router.post(
    "/tool_calls/batch",
    operation_id="create_tool_call_batch",
    summary="Run the calls of one turn",
    response_model=None,
    responses={
        200: {"model": list[Answer], "description": "The answers, in the order of the calls.", "headers": DOCUMENTED},
        **_PROBLEMS,
    },
    openapi_extra={"requestBody": array_of(Call, BATCH)},
)
async def create_tool_call_batch(
    request: Request, parts: PartsDep, context: ContextDep, format: AnswerFormat = None
) -> Response:
    """Run calls concurrently and answer each in its place; one that fails harms no other.

    When one element is not a call, nothing is run and the 422 says which. With `Accept: text/event-stream` each answer
    comes as an event as soon as it is ready.
    """
    body = await read_json(request, parts.bounds)
    calls = _read_batch(body, parts.max_batch)
    if wants_events(request):
        return EventStream(parts, request, calls, context, format)
    return (await context.while_present(answer_calls(parts, calls, context, format))).to_response()


def _read_batch(body: Any, limit: int) -> list[ReceivedCall]:
    if not isinstance(body, list):
        text = "A batch is a JSON array of calls; send one call to POST /tool_calls."
        raise NotAToolCall(text, example=[CALLS["langchain"]["value"]])
    if len(body) > limit:
        raise BatchTooLarge(f"The batch holds {len(body)} calls; this server takes {limit} at once.")
    calls: list[ReceivedCall] = []
    errors: list[dict[str, Any]] = []
    example: Any = None
    for index, item in enumerate(body):
        try:
            calls.append(read_call(item))
        except NotAToolCall as error:
            errors.append({"loc": [index], "type": "not_a_tool_call", "msg": error.message})
            example = example or error.members.get("example")
    if errors:
        where = "; ".join(f"[{error['loc'][0]}] {error['msg']}" for error in errors)
        raise NotAToolCall(f"Nothing was run: {where}", errors=errors, example=[example])
    return calls
