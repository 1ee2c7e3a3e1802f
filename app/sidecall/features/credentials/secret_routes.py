"""Routes for callers' own secrets."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Request, Response
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError
from pydantic_core import to_json

from sidecall.features.server_parts import PartsDep
from sidecall.http.body import read_json
from sidecall.http.fast_path import Reply
from sidecall.http.parameters import CallerDep, LateRoute, refuse_unknown_parameters
from sidecall.http.problems import Problem
from sidecall.kernel.ports.secrets import InvalidSecret, SecretListing
from sidecall.rest.openapi import CALLER_PROBLEM, json_body

router = APIRouter(tags=["callers"], dependencies=[Depends(refuse_unknown_parameters)], route_class=LateRoute)

SecretName = Annotated[
    str,
    Path(
        pattern=r"^[A-Za-z_][A-Za-z0-9_.-]{0,127}$",
        description='The name by which tools ask for it: that of `Secret("NAME")`.',
    ),
]
_MOST_BYTES = 16 * 1024
_UNKNOWN: dict[int | str, dict[str, Any]] = {404: {"model": Problem, "description": "You have no such secret here."}}
_UNAVAILABLE: dict[int | str, dict[str, Any]] = {503: {"model": Problem, "description": "It cannot be done just now."}}


class SecretValue(BaseModel, defer_build=True):
    """A secret that a caller stores; it cannot be read again."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    value: SecretStr = Field(min_length=1, max_length=_MOST_BYTES)


@router.get(
    "/secrets",
    operation_id="list_secrets",
    summary="List your secrets",
    response_model=None,
    responses={200: {"model": list[SecretListing], "description": "Their names."}, **CALLER_PROBLEM},
)
async def list_secrets(parts: PartsDep, caller: CallerDep) -> Response:
    """List the names of the secrets that you keep here; the values cannot be read."""
    return Reply(to_json(list(await parts.secrets.list(caller)))).to_response()


@router.put(
    "/secrets/{name}",
    operation_id="put_secret",
    summary="Keep a secret",
    status_code=204,
    responses={
        204: {"description": "It is kept, in place of the one of the same name."},
        400: {"model": Problem, "description": "The body is not JSON."},
        404: {"model": Problem, "description": "This server keeps no secrets of callers."},
        409: {"model": Problem, "description": "No more secrets are kept here."},
        413: {"model": Problem, "description": "The body is larger than this server takes."},
        415: {"model": Problem, "description": "The body is not declared as JSON."},
        422: {"model": Problem, "description": "The body or the name is not that of a secret."},
        **_UNAVAILABLE,
    },
    openapi_extra={"requestBody": json_body(SecretValue, {"a token": {"value": {"value": "ghp_…"}}})},
)
async def put_secret(request: Request, parts: PartsDep, caller: CallerDep, name: SecretName) -> Response:
    """Keep a secret for your own calls, encrypted; tools that ask for one of this name get it in your calls alone."""
    await parts.secrets.put(caller, name, _read_value(await read_json(request, parts.bounds)))
    return Response(status_code=204)


def _read_value(body: Any) -> str:
    """Read the secret; errors do not contain it."""
    try:
        value = SecretValue.model_validate(body).value.get_secret_value()
        size = len(value.encode())
    except (ValidationError, UnicodeEncodeError):
        size = 0
    if not 0 < size <= _MOST_BYTES:
        text = f"The body is no secret: write `value` alone, a text of {_MOST_BYTES} bytes at most."
        raise InvalidSecret(text, example={"value": "…"})
    return value


@router.delete(
    "/secrets/{name}",
    operation_id="delete_secret",
    summary="Forget a secret",
    status_code=204,
    responses={
        **CALLER_PROBLEM,
        **_UNKNOWN,
        422: {"model": Problem, "description": "The name is not that of a secret."},
        **_UNAVAILABLE,
    },
)
async def delete_secret(parts: PartsDep, caller: CallerDep, name: SecretName) -> Response:
    """Forget one of your secrets; calls that run already have it."""
    await parts.secrets.remove(caller, name)
    return Response(status_code=204)
