"""Routes of approvals."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from pydantic import Field, TypeAdapter, ValidationError
from pydantic_core import to_json

from sidecall.features.approvals.decide import DecisionTerms, decide, is_own
from sidecall.features.server_parts import PartsDep
from sidecall.kernel.core.errors import InvalidDecision, UnknownApproval
from sidecall.kernel.core.scopes import DECIDE
from sidecall.kernel.http.body import read_json
from sidecall.kernel.http.fast_path import Reply
from sidecall.kernel.http.parameters import (
    ENTRY,
    NEXT_PAGE,
    OF_LINK,
    WHOLE_NUMBER,
    LateRoute,
    refuse_unknown_parameters,
    write_link,
)
from sidecall.kernel.http.problems import Problem
from sidecall.kernel.ports.approvals.approval import Approval, ApprovalStatus, Decision
from sidecall.kernel.ports.approvals.stores import ListedApproval
from sidecall.kernel.ports.workspaces import LONGEST, NAMED
from sidecall.kernel.rest.body_errors import format_errors, list_errors
from sidecall.kernel.rest.examples import APPROVAL, DECISIONS
from sidecall.kernel.rest.items.writing import name_failure
from sidecall.kernel.rest.openapi import CALLER_PROBLEM, json_body
from sidecall.kernel.rest.parts import CallerDep, DeadlineDep
from sidecall.kernel.rest.plain_calls import write_answer
from sidecall.kernel.rest.received import DialectName
from sidecall.kernel.rest.wire import Answer

router = APIRouter(tags=["approvals"], dependencies=[Depends(refuse_unknown_parameters)], route_class=LateRoute)

ApprovalId = Annotated[str, Path(description="The approval's id, from the 202 or from the list.")]
StatusFilter = Annotated[ApprovalStatus | None, Query(description="Only approvals in this status.")]
OfConversation = Annotated[
    str | None, Query(pattern=NAMED, max_length=LONGEST, description="Only approvals of this conversation.")
]
Limit = Annotated[int, Query(ge=1, le=1000, description="Most approvals of one page."), WHOLE_NUMBER]
Cursor = Annotated[
    str | None,
    Query(pattern=ENTRY, description="Where the page begins: from the `Link` of the one before."),
    OF_LINK,
]
MessageFormat = Annotated[
    DialectName, Query(alias="format", description="The form of `message`, the answer to the call.")
]


class AnsweredApproval(Approval):
    """An approval with its message in the dialect that was asked for."""

    message: Answer | None = Field(  # type: ignore[assignment]  # only documented
        default=None, description="The answer to the call, once there is one."
    )


class ApprovalDecision(Decision):
    """A person's decision; unknown members are refused, so that a misspelt one approves nothing else."""

    # Not called as its member is: a generated client would take one for the other.


_DECISION = TypeAdapter(Decision)
_UNKNOWN: dict[int | str, dict[str, Any]] = {
    404: {"model": Problem, "description": "There is no such approval, or it has expired."}
}
_PARAMETER: dict[int | str, dict[str, Any]] = {422: {"model": Problem, "description": "A parameter is wrong."}}
_ONE: dict[int | str, dict[str, Any]] = {
    200: {
        "model": AnsweredApproval,
        "content": {"application/json": {"examples": APPROVAL}},
        "description": "The approval.",
    }
}


@router.get(
    "/approvals",
    operation_id="list_approvals",
    summary="List the calls that wait",
    response_model=None,
    responses={
        200: {
            "model": list[ListedApproval],
            "description": "A page of approvals.",
            "headers": NEXT_PAGE,
        },
        **CALLER_PROBLEM,
        **_PARAMETER,
    },
)
async def list_approvals(
    parts: PartsDep,
    caller: CallerDep,
    status: StatusFilter = None,
    conversation: OfConversation = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Response:
    """List your tenant's approvals, oldest first: waiting, decided and expired ones.

    Those with the status `expired` are listed for at least an hour, and can no longer be decided. A page holds up to
    `limit` approvals, fewer when they are large; the header `Link` leads to the next page, if there is one. Arguments
    and answers of more than 4 KiB are null here; get the approval itself for them.
    """
    page = await parts.approvals.list(
        caller.tenant, status, limit, cursor, with_expired=status is None, conversation_id=conversation
    )
    response = Reply(to_json(page.approvals)).to_response()
    if page.cursor is not None:
        asked = {"status": status, "conversation": conversation, "limit": limit, "cursor": page.cursor}
        response.headers["Link"] = write_link("/approvals", asked.items())
    return response


@router.get(
    "/approvals/{approval_id}",
    operation_id="get_approval",
    summary="Get an approval",
    response_model=None,
    responses={**_ONE, **CALLER_PROBLEM, **_UNKNOWN, **_PARAMETER},
)
async def get_approval(
    parts: PartsDep, caller: CallerDep, approval_id: ApprovalId, format: MessageFormat = "langchain"
) -> Response:
    """Get one approval; once the call is answered, `message` is the answer for the model."""
    record = await parts.approvals.get(approval_id, caller.tenant)
    if not (is_own(record, caller) or caller.may(DECIDE)):
        raise UnknownApproval
    return _show(record.approval, format)


@router.post(
    "/approvals/{approval_id}",
    operation_id="decide_approval",
    summary="Approve or reject a call",
    response_model=None,
    responses={
        **_ONE,
        **_UNKNOWN,
        400: {"model": Problem, "description": "The body is not JSON, or the header that names the caller is wrong."},
        409: {
            "model": Problem,
            "description": "It was decided already, or asks something else, or no more rules are kept.",
        },
        413: {"model": Problem, "description": "The body is larger than this server takes."},
        415: {"model": Problem, "description": "The body is not declared as JSON."},
        422: {"model": Problem, "description": "The body is not a decision, or its `args` do not fit the tool."},
    },
    openapi_extra={"requestBody": json_body(ApprovalDecision, DECISIONS)},
)
async def decide_approval(
    request: Request,
    parts: PartsDep,
    caller: CallerDep,
    deadline: DeadlineDep,
    approval_id: ApprovalId,
    format: MessageFormat = "langchain",
) -> Response:
    """Approve a call, which runs it and waits for its end, or reject it with a reason that the model reads.

    With `args` the call runs with these arguments instead of the model's. Each call is decided once. With `always` the
    decision holds for all later calls of this tool by the same caller, until it is revoked or `expires_in` seconds.
    Where callers have scopes, approving a call of your own takes `approvals:decide_own`.
    """
    decision = _read_decision(await read_json(request, parts.bounds))
    approval = await decide(
        parts.pipeline,
        parts.approvals,
        approval_id,
        decision,
        caller,
        DecisionTerms(deadline, parts.rules, parts.auditor),
    )
    await parts.jobs.notice(approval)
    return _show(approval, format)


def _read_decision(body: Any) -> Decision:
    try:
        return _DECISION.validate_python(body)
    except ValidationError as error:
        errors = list_errors(error, body)
        text = f"The body is not a decision: {format_errors(errors)}."
        raise InvalidDecision(text, errors=errors, example=_EXAMPLE) from None


_EXAMPLE = {"decision": "reject", "reason": "Ask for the order number first."}


def _show(approval: Approval, form: DialectName) -> Response:
    message = approval.message
    shown = approval.model_dump(mode="json", exclude={"message"})
    if message is None:
        return Reply(to_json({**shown, "message": None})).to_response()
    answer = to_json({**shown, "message": write_answer(message, form)})
    return Reply(answer, 200, name_failure(message, form)).to_response()
