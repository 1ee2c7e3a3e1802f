"""The route `GET /notes`, loaded with the first request for it."""

from fastapi import APIRouter

from notes_feature.feature import COUNTS

router = APIRouter(tags=["notes"])


@router.get("/notes", operation_id="list_counts", summary="How often was each tool called?")
async def list_counts() -> dict[str, int]:
    """Return the number of calls of each tool that was called since the server started."""
    return dict(COUNTS)
