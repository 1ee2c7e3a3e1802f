"""The route `GET /notes`, loaded with the first request for it."""

from fastapi import APIRouter, Request

router = APIRouter(tags=["notes"])


@router.get("/notes", operation_id="list_counts", summary="How often was each tool called?")
async def list_counts(request: Request) -> dict[str, int]:
    """Return the number of calls of each tool, on all servers of the store."""
    return dict(await request.app.state.ledger.database.read("notes_list"))
