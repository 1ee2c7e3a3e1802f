"""The pages of conversations: which there are, and one as a story of its calls, approvals and files."""

from collections.abc import Mapping
from typing import Any

from sidecall.features.console.api_client import ApiFailure
from sidecall.features.console.pages.approvals import STATES as APPROVAL_STATES
from sidecall.features.console.pages.calls import SIGNS, STATES
from sidecall.features.console.visits import View, Visit
from sidecall.kernel.core.scopes import READ

_MOST = 50
_MOST_CALLS = 200
_APPROVAL_SIGNS = {"approved": "good", "rejected": "bad", "pending": "warn"}


async def list_conversations(visit: Visit) -> View:
    """List conversations, the one with the latest call first."""
    found = await visit.find("/conversations", limit=_MOST, cursor=visit.query.get("cursor"))
    if isinstance(found, ApiFailure) and found.slug != "history-off":
        raise found
    values = {
        "rows": [] if isinstance(found, ApiFailure) else found.data,
        "next": None if isinstance(found, ApiFailure) else found.next_cursor,
        "is_off": isinstance(found, ApiFailure),
        "is_first": not visit.query.get("cursor"),
        "reads_all": visit.reader.may(READ),
    }
    return View("conversations.html", "Conversations", values)


async def show_conversation(visit: Visit) -> View:
    """Tell one conversation, the oldest first; earlier calls are on pages of their own."""
    name = visit.names["id"]
    answer = await visit.get(f"/conversations/{name}", limit=_MOST_CALLS, cursor=visit.query.get("cursor"))
    story = answer.data
    parts: Mapping[str, Mapping[str, Any]] = {
        "call": {it["id"]: it for it in story["calls"]},
        "approval": {it["id"]: it for it in story["approvals"]},
        "file": {it["id"]: it for it in story["files"]},
    }
    events = [(it["at"], it["type"], parts[it["type"]][it["id"]]) for it in story["timeline"]]
    values = {
        "story": story,
        "events": events,
        "earlier": answer.next_cursor,
        "is_first": not visit.query.get("cursor"),
        "failing": visit.link("console/calls", conversation=name, status="failed"),
        "states": {**STATES, **APPROVAL_STATES},
        "signs": {**SIGNS, **_APPROVAL_SIGNS},
        "slowest": max((it["duration_ms"] or 0 for it in story["calls"]), default=0),
    }
    return View("conversation.html", f"Conversation {name}", values)
