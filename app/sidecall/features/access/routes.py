"""Routes about callers: who one is, and by which issuer of tokens clients may become one (RFC 9728)."""

from typing import Any

from fastapi import APIRouter, Depends, HTTPException, Request, Response
from pydantic import BaseModel, Field
from pydantic_core import to_json

from sidecall.http.authentication import WELL_KNOWN, Access
from sidecall.http.fast_path import Reply
from sidecall.http.parameters import CallerDep, LateRoute, refuse_unknown_parameters
from sidecall.http.problems import Problem
from sidecall.rest.openapi import CALLER_PROBLEM

router = APIRouter(tags=["callers"], route_class=LateRoute)


class Identity(BaseModel, defer_build=True):
    """The caller of a request, as this server sees it."""

    subject: str = Field(description="The caller's name; `anonymous` where authentication is off.")
    tenant: str = Field(description="Whose calls, approvals, contents and stored items it shares.")
    scopes: list[str] = Field(description="What it may do; `*` is everything.")
    toolset: str | None = Field(description="The part of the tools that it sees; null: all that its scopes allow.")


@router.get(
    "/whoami",
    dependencies=[Depends(refuse_unknown_parameters)],
    operation_id="get_identity",
    summary="Who am I?",
    response_model=Identity,
    responses={200: {"description": "You, as this server knows you."}, **CALLER_PROBLEM},
)
async def get_identity(caller: CallerDep) -> Response:
    """Answer with the caller's name, tenant and scopes."""
    toolset = None if caller.toolset is None else caller.toolset.name
    identity = Identity(subject=caller.subject, tenant=caller.tenant, scopes=sorted(caller.scopes), toolset=toolset)
    return Reply(to_json(identity)).to_response()


class ResourceMetadata(BaseModel, defer_build=True):
    """Which tokens this server takes, and from whom (RFC 9728)."""

    resource: str = Field(description="What a token has to be made for: its audience.")
    authorization_servers: list[str] = Field(description="Who gives tokens.")
    scopes_supported: list[str] = Field(description="What a caller may do with the server itself.")
    bearer_methods_supported: list[str]
    resource_name: str


_RESPONSES: dict[int | str, dict[str, Any]] = {404: {"model": Problem, "description": "The server takes no tokens."}}


@router.get(
    WELL_KNOWN,
    operation_id="get_resource_metadata",
    summary="Who gives tokens?",
    response_model=ResourceMetadata,
    responses=_RESPONSES,
)
async def get_resource_metadata(request: Request) -> Response:
    """Answer with what an OAuth client has to know to get a token for this server."""
    access: Access | None = request.app.state.access
    if access is None or access.resource is None:
        raise HTTPException(404, "This server takes no tokens.")
    return Reply(to_json(access.resource.write(request.scope))).to_response()


@router.get(WELL_KNOWN + "/{path:path}", include_in_schema=False)
async def get_metadata_below(request: Request) -> Response:
    """Answer the same for a resource with a path, which follows the well-known one."""
    return await get_resource_metadata(request)
