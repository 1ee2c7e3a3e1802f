"""Routes for the providers at which tools act for a caller's person."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Response
from pydantic_core import to_json

from sidecall.features.server_parts import PartsDep
from sidecall.http.fast_path import Reply
from sidecall.http.parameters import CallerDep, LateRoute, refuse_unknown_parameters
from sidecall.http.problems import Problem
from sidecall.kernel.ports.user_tokens import TokenListing, TokenRemoval, UnknownUserToken
from sidecall.rest.openapi import CALLER_PROBLEM

router = APIRouter(tags=["callers"], dependencies=[Depends(refuse_unknown_parameters)], route_class=LateRoute)

ProviderName = Annotated[
    str, Path(pattern=r"^[A-Za-z0-9_-]{1,64}$", description='As tools name it: that of `UserToken("name")`.')
]
_UNKNOWN: dict[int | str, dict[str, Any]] = {404: {"model": Problem, "description": "You have no such token here."}}


@router.get(
    "/oauth/tokens",
    operation_id="list_user_tokens",
    summary="List where your person has signed in",
    response_model=None,
    responses={200: {"model": list[TokenListing], "description": "The providers."}, **CALLER_PROBLEM},
)
async def list_user_tokens(parts: PartsDep, caller: CallerDep) -> Response:
    """List the providers at which tools may act for your person; the tokens cannot be read."""
    signing_in = parts.secrets.signing_in
    return Reply(to_json([] if signing_in is None else list(await signing_in.tokens.list(caller)))).to_response()


@router.delete(
    "/oauth/tokens/{provider}",
    operation_id="delete_user_token",
    summary="Forget a token",
    response_model=None,
    responses={
        200: {"model": TokenRemoval, "description": "It is forgotten."},
        **CALLER_PROBLEM,
        **_UNKNOWN,
        422: {"model": Problem, "description": "The name is not that of a provider."},
        503: {"model": Problem, "description": "It cannot be done just now."},
    },
)
async def delete_user_token(parts: PartsDep, caller: CallerDep, provider: ProviderName) -> Response:
    """Forget with what tools act for your person, and ask the provider to forget it too; calls that run have it."""
    if parts.secrets.signing_in is None:
        raise UnknownUserToken
    return Reply(to_json(await parts.secrets.signing_in.tokens.remove(caller, provider))).to_response()
