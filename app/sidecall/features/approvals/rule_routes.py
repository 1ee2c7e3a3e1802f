"""Routes of approval rules."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Response
from pydantic_core import to_json

from sidecall.features.server_parts import PartsDep
from sidecall.http.fast_path import Reply
from sidecall.http.parameters import (
    ENTRY,
    OF_LINK,
    WHOLE_NUMBER,
    CallerDep,
    LateRoute,
    refuse_unknown_parameters,
    write_link,
)
from sidecall.http.problems import Problem
from sidecall.kernel.ports.approvals.rules import ApprovalRule
from sidecall.rest.openapi import CALLER_PROBLEM, describe_page

router = APIRouter(tags=["approvals"], dependencies=[Depends(refuse_unknown_parameters)], route_class=LateRoute)

RuleId = Annotated[str, Path(description="The rule's id, from the list.")]
RuleLimit = Annotated[int, Query(ge=1, le=1000, description="Most rules of one page."), WHOLE_NUMBER]
RuleCursor = Annotated[
    str | None,
    Query(pattern=ENTRY, description="Where the page begins: from the `Link` of the one before."),
    OF_LINK,
]


@router.get(
    "/approvals/rules",
    operation_id="list_approval_rules",
    summary="List the decisions that hold for later calls",
    response_model=None,
    responses=describe_page(list[ApprovalRule], "A page of rules."),
)
async def list_approval_rules(
    parts: PartsDep, caller: CallerDep, limit: RuleLimit = 100, cursor: RuleCursor = None
) -> Response:
    """List what people have decided about all calls of a tool by a caller, oldest first.

    A rule holds as long as the tool's `hash` is its `definition`.
    """
    page = await parts.rules.list(caller.tenant, limit, cursor)
    response = Reply(to_json(page.rules)).to_response()
    if page.cursor is not None:
        response.headers["Link"] = write_link("/approvals/rules", (("limit", limit), ("cursor", page.cursor)))
    return response


@router.delete(
    "/approvals/rules/{rule_id}",
    operation_id="revoke_approval_rule",
    summary="Revoke a decision that holds for later calls",
    status_code=204,
    responses={
        **CALLER_PROBLEM,
        404: {"model": Problem, "description": "There is no such rule, or it has expired."},
        503: {"model": Problem, "description": "It cannot be done just now."},
    },
)
async def revoke_approval_rule(parts: PartsDep, caller: CallerDep, rule_id: RuleId) -> Response:
    """Let later calls of the tool be decided about one by one again."""
    await parts.rules.remove(rule_id, caller.tenant)
    await parts.auditor.record("rule_revoked", caller, rule_id, {})
    return Response(status_code=204)
