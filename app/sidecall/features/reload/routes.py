"""The route that loads tools again."""

import asyncio

from fastapi import APIRouter, Depends, Request, Response
from pydantic_core import to_json

from sidecall.features.reload.reloader import Reloaded
from sidecall.features.reload.whole_server import Reloading
from sidecall.http.fast_path import Reply
from sidecall.http.parameters import CallerDep, LateRoute, refuse_unknown_parameters
from sidecall.http.problems import Problem
from sidecall.rest.openapi import CALLER_PROBLEM

router = APIRouter(tags=["operations"], dependencies=[Depends(refuse_unknown_parameters)], route_class=LateRoute)

_EXAMPLE = {
    "tools": {"added": ["weather"], "changed": ["search"], "removed": []},
    "toolsets": None,
    "mcp_servers": {"added": [], "changed": [], "removed": ["time"]},
    "offered": 12,
    "workers": 2,
}


@router.post(
    "/reload",
    operation_id="reload",
    summary="Load the tools again",
    response_model=Reloaded,
    responses={
        200: {"description": "What is different now.", "content": {"application/json": {"example": _EXAMPLE}}},
        409: {"model": Problem, "description": "Something is broken, which is named; nothing has changed."},
        **CALLER_PROBLEM,
    },
)
async def reload(request: Request, caller: CallerDep) -> Response:
    """Load the files of tools, toolsets, MCP servers and the certificate again, in all workers: all of them, or none.

    Calls that run go on. The tools' places and the names of the files are those of the start.
    """
    reloading: Reloading = request.app.state.reloading
    # A client who leaves does not break it off.
    return Reply(to_json(await asyncio.shield(reloading.reload(caller)))).to_response()
