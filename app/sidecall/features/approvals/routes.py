"""Routes of approvals."""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import to_json

from sidecall.features.approvals.asked_tool import ToolState, compare, find_tool, read_function, show_both
from sidecall.features.approvals.decide import DecisionTerms, decide, is_own
from sidecall.features.approvals.record import ApprovalRecord, Decision
from sidecall.features.approvals.stores import ListedApproval
from sidecall.features.server_parts import PartsDep
from sidecall.http.body import read_json
from sidecall.http.fast_path import Reply
from sidecall.http.parameters import (
    ENTRY,
    OF_LINK,
    WHOLE_NUMBER,
    CallerDep,
    DeadlineDep,
    LateRoute,
    keep_query,
    refuse_unknown_parameters,
    write_link,
)
from sidecall.http.problems import Problem
from sidecall.kernel.core.errors import InvalidDecision, UnknownApproval
from sidecall.kernel.core.scopes import DECIDE
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.ports.approvals.approval import Approval, ApprovalStatus
from sidecall.kernel.ports.workspaces import LONGEST, NAMED
from sidecall.rest.body_errors import format_errors, list_errors
from sidecall.rest.dialect_models import Answer
from sidecall.rest.examples import APPROVAL, DECISIONS
from sidecall.rest.native_calls.writing import name_failure
from sidecall.rest.openapi import CALLER_PROBLEM, describe_page, json_body
from sidecall.rest.parsed_call import DialectName
from sidecall.rest.plain_calls import write_answer

# The header that counts what a list has on all pages.
COUNT = "X-Total-Count"

router = APIRouter(tags=["approvals"], dependencies=[Depends(refuse_unknown_parameters)], route_class=LateRoute)

ApprovalId = Annotated[str, Path(description="The approval's id, from the 202 or from the list.")]
StatusFilter = Annotated[ApprovalStatus | None, Query(description="Only approvals in this status.")]
OfConversation = Annotated[
    str | None, Query(pattern=NAMED, max_length=LONGEST, description="Only approvals of this conversation.")
]
OfTrace = Annotated[str | None, Query(pattern=r"^[0-9a-f]{32}$", description="Only approvals of this trace.")]
OfRequest = Annotated[
    str | None,
    Query(pattern=r"^[A-Za-z0-9._:/+=-]{1,128}$", description="Only approvals of calls of this HTTP request."),
]
_TEXT = r"^[^\x00]*$"  # No database keeps a NUL in a text.
OfTool = Annotated[str | None, Query(pattern=_TEXT, description="Only calls of this tool.")]
OfRequester = Annotated[str | None, Query(pattern=_TEXT, description="Only calls that this caller has sent.")]
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


def _need_no_definitions(schema: dict[str, Any]) -> None:
    """Say that the definitions are not always there, as all else is."""
    schema["required"].remove("definitions")


class ShownApproval(AnsweredApproval):
    """An approval with the tool that a decision is about."""

    model_config = ConfigDict(json_schema_extra=_need_no_definitions)

    tool_state: ToolState = Field(description="Whether the tool of this name is still the one that was asked about.")
    tool_description: str | None = Field(
        description="What the model reads of the tool, as it was when it was asked about; null where it is not known."
    )
    args_schema: dict[str, Any] | None = Field(
        description="JSON Schema of the arguments, from the same definition; null where a person cannot change them."
    )
    definitions: dict[str, Any] = Field(
        default={},
        description="Only where the tool has changed or is gone: what was `asked` about and what is `current`, each a "
        "`hash` and a `definition`, and null where it is not known. A decision about the latter names its `hash`.",
    )


class ApprovalDecision(Decision):
    """A person's decision; unknown members are refused, so that a misspelt one approves nothing else."""

    # Not called as its member is: a generated client would take one for the other.


_DECISION = TypeAdapter(Decision)
_UNKNOWN: dict[int | str, dict[str, Any]] = {
    404: {"model": Problem, "description": "There is no such approval, or it has expired long ago."}
}
_PARAMETER: dict[int | str, dict[str, Any]] = {422: {"model": Problem, "description": "A parameter is wrong."}}
_ONE: dict[int | str, dict[str, Any]] = {
    200: {
        "model": ShownApproval,
        "content": {"application/json": {"examples": APPROVAL}},
        "description": "The approval.",
    }
}


async def _narrow(
    status: StatusFilter = None,
    tool: OfTool = None,
    requested_by: OfRequester = None,
    conversation: OfConversation = None,
    trace_id: OfTrace = None,
    request_id: OfRequest = None,
) -> tuple[ApprovalStatus | None, Mapping[str, str]]:
    """Return which approvals are asked for: their status, and values by names of `FILTERS`."""
    wanted = {"tool": tool, "requested_by": requested_by, "conversation_id": conversation}
    wanted |= {"trace_id": trace_id, "request_id": request_id}
    return status, {name: value for name, value in wanted.items() if value is not None}


NarrowedDep = Annotated[tuple[ApprovalStatus | None, Mapping[str, str]], Depends(_narrow)]


@router.get(
    "/approvals",
    operation_id="list_approvals",
    summary="List the calls that wait",
    response_model=None,
    responses=describe_page(
        list[ListedApproval],
        "A page of approvals.",
        {COUNT: {"description": "How many there are on all pages.", "schema": {"type": "integer"}}},
    ),
)
async def list_approvals(
    request: Request,
    parts: PartsDep,
    caller: CallerDep,
    narrowed: NarrowedDep,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Response:
    """List your tenant's approvals, oldest first: waiting, decided and expired ones.

    Those with the status `expired` are there for at least an hour, and can no longer be decided. A page holds up to
    `limit` approvals, fewer when they are large; the header `Link` leads to the next page, if there is one. Arguments
    and answers of more than 4 KiB are null here; get the approval itself for them.
    """
    status, matching = narrowed
    page = await parts.approvals.list(
        caller.tenant, status, limit, cursor, with_expired=status is None, matching=matching
    )
    response = Reply(to_json(page.approvals), 200, {COUNT: str(page.total)}).to_response()
    if page.cursor is not None:
        response.headers["Link"] = write_link("/approvals", keep_query(request, page.cursor))
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
    record = await parts.approvals.get(approval_id, caller.tenant, with_expired=True)
    if not (is_own(record, caller) or caller.may(DECIDE)):
        raise UnknownApproval
    return _show(record.approval, format, _show_tool(find_tool(parts.pipeline, record), record.approval, record))


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
            "description": "It was decided already, has expired, asks something else, or no more rules are kept; "
            "`tool-changed` where the tool is not the one that was asked about, with both definitions.",
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
    A decision is about the tool as it was when the person was asked. Where it has changed since, the answer is 409
    with both definitions, unless `hash` names the new one. Where callers have scopes, approving a call of your own
    takes `approvals:decide_own`.
    """
    decision = _read_decision(await read_json(request, parts.bounds))
    approval, tool = await decide(
        parts.pipeline,
        parts.approvals,
        approval_id,
        decision,
        caller,
        DecisionTerms(deadline, parts.rules, parts.auditor),
    )
    await parts.jobs.end_awaiting(approval)
    is_asked = tool is not None and tool.name == approval.tool_call.name  # Else it is asked about inside of it.
    return _show(approval, format, _show_tool(tool if is_asked else None, approval))


def _read_decision(body: Any) -> Decision:
    try:
        return _DECISION.validate_python(body)
    except ValidationError as error:
        errors = list_errors(error, body)
        text = f"The body is not a decision: {format_errors(errors)}."
        raise InvalidDecision(text, errors=errors, example=_EXAMPLE) from None


_EXAMPLE = {"decision": "reject", "reason": "Ask for the order number first."}


def _show_tool(tool: CompiledTool | None, approval: Approval, record: ApprovalRecord | None = None) -> dict[str, Any]:
    is_inside = record is not None and record.is_inside
    state, description, schema = compare(tool, approval.tool_hash), None, None
    if record is not None and record.tool is not None and state != "same":
        function = read_function(record.tool.definition)
        description, schema = function.get("description"), function.get("parameters")
    elif tool is not None:
        description, schema = tool.description, tool.args_schema.json_schema
    shown = {"tool_state": state, "tool_description": description, "args_schema": None if is_inside else schema}
    both = None if record is None else show_both(tool, record)
    return shown if both is None else {**shown, "definitions": both}


def _show(approval: Approval, form: DialectName, tool: dict[str, Any]) -> Response:
    message = approval.message
    shown = {**approval.model_dump(mode="json", exclude={"message"}), **tool}
    if message is None:
        return Reply(to_json({**shown, "message": None})).to_response()
    answer = to_json({**shown, "message": write_answer(message, form)})
    return Reply(answer, 200, name_failure(message, form)).to_response()
