"""Give programs the whole of what was cut for a model."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Response

from sidecall.http.problems import Problem
from sidecall.rest.openapi import CALLER_PROBLEM
from sidecall.rest.parts import PartsDep

router = APIRouter(tags=["tool calls"])

ArtifactId = Annotated[str, Path(description="The last part of an answer's `artifact_url`.")]


def artifact_url(key: str | None) -> str | None:
    """Say where an artifact is served."""
    return None if key is None else f"/artifacts/{key}"


_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"description": "The content as it was: a text, or the JSON of its blocks.", "content": {"text/plain": {}}},
    **CALLER_PROBLEM,
    404: {"model": Problem, "description": "There is no such artifact, or it has expired."},
}


@router.get(
    "/artifacts/{artifact_id}",
    operation_id="get_artifact",
    summary="Read a content that was cut",
    response_class=Response,
    responses=_RESPONSES,
)
async def get_artifact(parts: PartsDep, artifact_id: ArtifactId) -> Response:
    """Answer with the whole content of a call whose answer says `truncated`."""
    body = parts.artifacts.get(artifact_id)
    # What tools return must never be run by a browser that comes here.
    headers = {"X-Content-Type-Options": "nosniff", "Content-Disposition": "attachment"}
    return Response(body, media_type="text/plain; charset=utf-8", headers=headers)
