"""The route that shows a caller its identity."""

from fastapi import APIRouter, Depends, Response
from pydantic import BaseModel, Field
from pydantic_core import to_json

from sidecall.kernel.http.fast_path import Reply
from sidecall.kernel.http.parameters import LateRoute, refuse_unknown_parameters
from sidecall.kernel.rest.openapi import CALLER_PROBLEM
from sidecall.kernel.rest.parts import CallerDep

router = APIRouter(tags=["callers"], dependencies=[Depends(refuse_unknown_parameters)], route_class=LateRoute)


class Identity(BaseModel, defer_build=True):
    """The caller of a request, as this server sees it."""

    subject: str = Field(description="The caller's name; `anonymous` where authentication is off.")
    tenant: str = Field(description="Whose calls, approvals, contents and stored items it shares.")
    scopes: list[str] = Field(description="What it may do; `*` is everything.")
    toolset: str | None = Field(description="The part of the tools that it sees; null: all that its scopes allow.")


@router.get(
    "/whoami",
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
