"""The route of the audit."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic_core import to_json

from sidecall.features.audit.stores import AuditAction, AuditEntry, AuditFilter
from sidecall.features.calls.routes import Moment
from sidecall.features.server_parts import PartsDep
from sidecall.http.fast_path import Reply
from sidecall.http.parameters import (
    ENTRY,
    OF_LINK,
    WHOLE_NUMBER,
    CallerDep,
    LateRoute,
    keep_query,
    refuse_unknown_parameters,
    write_link,
)
from sidecall.rest.openapi import describe_page

router = APIRouter(tags=["operations"], dependencies=[Depends(refuse_unknown_parameters)], route_class=LateRoute)

OfAction = Annotated[AuditAction | None, Query(description="Only entries of this kind.")]
ByWhom = Annotated[str | None, Query(description="Only what this caller did, or was refused.")]
Since = Annotated[Moment | None, Query(description="Only entries from then on.")]
Until = Annotated[Moment | None, Query(description="Only entries from before then.")]
MostEntries = Annotated[int, Query(ge=1, le=1000, description="Most entries of one page."), WHOLE_NUMBER]
FromEntry = Annotated[
    str | None,
    Query(pattern=ENTRY, description="Where the page begins: from the `Link` of the one before."),
    OF_LINK,
]


async def _want(
    caller: CallerDep, action: OfAction = None, by: ByWhom = None, since: Since = None, until: Until = None
) -> AuditFilter:
    first, last = (None if time is None else time.timestamp() for time in (since, until))
    return AuditFilter(caller.tenant, action, by, first, last)


@router.get(
    "/audit",
    operation_id="list_audit",
    summary="List decisions and refusals",
    response_model=None,
    responses=describe_page(list[AuditEntry], "A page of entries."),
)
async def list_audit(
    request: Request,
    parts: PartsDep,
    wanted: Annotated[AuditFilter, Depends(_want)],
    limit: MostEntries = 100,
    cursor: FromEntry = None,
) -> Response:
    """List what people and programs of your tenant have decided, and what they were refused, latest first.

    Refusals of one kind are one entry a minute, with their `count`. Those without a credential that is known are in the
    tenant `default`.
    """
    await parts.auditor.flush()
    page = await parts.auditor.trail.list(wanted, limit, cursor)
    response = Reply(to_json(page.entries)).to_response()
    if page.cursor is not None:
        response.headers["Link"] = write_link("/audit", keep_query(request, page.cursor))
    return response
