"""Run calls again that were sent before."""

from typing import Any

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sidecall.features.calls.all_calls import find_call
from sidecall.features.calls.routes import AnswerForm, CallId
from sidecall.features.jobs.answers import answer_replay
from sidecall.features.jobs.errors import InvalidReplay
from sidecall.features.server_parts import PartsDep
from sidecall.http.body import parse_body, read_body
from sidecall.http.parameters import CallContextDep, LateRoute, refuse_unknown_parameters
from sidecall.http.preferences import DOCUMENTED, PARAMETERS, read_preferences
from sidecall.http.problems import Problem
from sidecall.kernel.ports.approvals.approval import Approval
from sidecall.rest.body_errors import format_errors, list_errors
from sidecall.rest.dialect_models import Answer, AnsweredCall
from sidecall.rest.openapi import json_body

router = APIRouter(tags=["tool calls"], dependencies=[Depends(refuse_unknown_parameters)], route_class=LateRoute)


class ReplayWish(BaseModel, defer_build=True):
    """How to repeat a call."""

    model_config = ConfigDict(extra="forbid", strict=True)

    insist: bool = Field(
        default=False, description="Repeat it although its tool is neither `read_only` nor `idempotent`."
    )


_EXAMPLES = {
    "plain": {"summary": "A call of a tool that may run again", "value": {}},
    "insist": {"summary": "A call of any tool", "value": {"insist": True}},
}
_BODY = {**json_body(ReplayWish, _EXAMPLES), "required": False}


@router.post(
    "/tool_calls/{call_id:uuid}/replay",
    operation_id="replay_tool_call",
    summary="Run a call again",
    response_model=None,
    responses={
        200: {
            "model": Answer,
            "description": "The answer, where `Prefer: wait=` has waited for it.",
            "headers": DOCUMENTED,
        },
        202: {
            "model": AnsweredCall | Approval,
            "description": "The new call goes on without you, or waits for a person's approval.",
            "headers": {
                **DOCUMENTED,
                "Location": {"description": "Where to ask for it.", "schema": {"type": "string"}},
            },
        },
        400: {"model": Problem, "description": "The body is not JSON, or a header is wrong."},
        404: {"model": Problem, "description": "There is no such call, or its tool is gone."},
        409: {"model": Problem, "description": "Its tool does not say that it may run again."},
        410: {"model": Problem, "description": "What was sent is not kept."},
        413: {"model": Problem, "description": "The body is larger than this server takes."},
        415: {"model": Problem, "description": "The body is not declared as JSON."},
        422: {"model": Problem, "description": "The body or a parameter is wrong, or the tool lacks context."},
        429: {"model": Problem, "description": "You have made as many calls as one may in this time."},
        503: {"model": Problem, "description": "There is no room for the call."},
    },
    openapi_extra={"requestBody": _BODY, "parameters": PARAMETERS},
)
async def replay_tool_call(
    request: Request, parts: PartsDep, context: CallContextDep, call_id: CallId, format: AnswerForm = "langchain"
) -> Response:
    """Make a new call of the same tool with the same arguments, state and context; `replay_of` names the old one.

    The new call is yours, and has an id and a `tool_call_id` of its own. It is answered with 202 and `Location`; with
    `Prefer: wait=10` by its answer, if that comes in time. Tools that are neither `read_only` nor `idempotent` run
    again with `{"insist": true}` only.
    """
    preferences = read_preferences(request.headers, parts.jobs.limits.wait)
    await find_call(parts, str(call_id), context.caller)
    body = await read_body(request, parts.bounds)
    wish = _read_wish(parse_body(body) if body.strip() else {})
    answer = answer_replay(parts, str(call_id), context, preferences, format, insists=wish.insist)
    return (await context.while_present(answer)).to_response()


def _read_wish(body: Any) -> ReplayWish:
    try:
        return ReplayWish.model_validate(body)
    except ValidationError as error:
        text = format_errors(list_errors(error, body))
        raise InvalidReplay(f'The body may be left out, or be {{"insist": true}}: {text}.', example=_INSIST) from None


_INSIST = {"insist": True}
