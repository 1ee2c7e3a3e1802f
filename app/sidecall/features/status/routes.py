"""Show people how the server is, and what the last two hours were like."""

from fastapi import APIRouter, Depends, Response
from pydantic_core import to_json

from sidecall.features.server_parts import PartsDep
from sidecall.features.status.collect import StatusReader, show_workspaces
from sidecall.features.status.models import ServerStatus
from sidecall.features.status.operation import count_waiting
from sidecall.http.fast_path import Reply
from sidecall.http.parameters import LateRoute, refuse_unknown_parameters
from sidecall.kernel.concurrency.pools import SERVER
from sidecall.rest.openapi import CALLER_PROBLEM

router = APIRouter(tags=["operations"], dependencies=[Depends(refuse_unknown_parameters)], route_class=LateRoute)


@router.get(
    "/status",
    operation_id="get_status",
    summary="How is the server?",
    response_model=ServerStatus,
    responses={200: {"description": "How it is at this moment, and was minute by minute."}, **CALLER_PROBLEM},
)
async def get_status(parts: PartsDep) -> Response:
    """Show what runs, waits and fails, whether the store can be used, and what each of the last 120 minutes was like.

    The samples are this worker's own, in its memory: they begin when it starts, and end with it.
    """
    reader = StatusReader(parts.operation, parts.metrics, parts.jobs.load, parts.history)
    # A disk may be slow to answer.
    workspaces = await SERVER.run(show_workspaces, parts.workspaces)
    approvals = await count_waiting(parts.approvals)
    return Reply(to_json(reader.read(parts.lifecycle, workspaces, approvals))).to_response()
