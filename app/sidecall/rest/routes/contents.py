"""Give programs the whole of what was cut for a model."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Response

from sidecall.http.problems import Problem
from sidecall.rest.openapi import CALLER_PROBLEM
from sidecall.rest.parts import PartsDep

router = APIRouter(tags=["tool calls"])

ContentId = Annotated[str, Path(description="The last part of an answer's `artifact_url`.")]


def content_url(content_id: str | None) -> str | None:
    """Return where a content is served."""
    return None if content_id is None else f"/contents/{content_id}"


_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"description": "The content as it was: a text, or the JSON of its blocks.", "content": {"text/plain": {}}},
    **CALLER_PROBLEM,
    404: {"model": Problem, "description": "There is no such content, or it has expired."},
}


@router.get(
    "/contents/{content_id}",
    operation_id="get_content",
    summary="Read a content that was cut",
    response_class=Response,
    responses=_RESPONSES,
)
async def get_content(parts: PartsDep, content_id: ContentId) -> Response:
    """Answer with the whole content of a call whose answer says `truncated`."""
    content = await parts.contents.get(content_id)
    # What tools return must never be run by a browser that comes here.
    headers = {"X-Content-Type-Options": "nosniff", "Content-Disposition": "attachment"}
    return Response(content.body, media_type="text/plain; charset=utf-8", headers=headers)
