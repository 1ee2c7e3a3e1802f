"""Gather what is known of conversations: their calls, approvals and files."""

import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from sidecall.features.approvals.stores import ListedApproval
from sidecall.features.calls.all_calls import list_calls
from sidecall.features.calls.in_flight import list_in_flight
from sidecall.features.history.conversations import (
    EVERYONE,
    ConversationCount,
    ConversationKey,
    ConversationSearch,
    CountedConversation,
    name_caller,
)
from sidecall.features.server_parts import Parts
from sidecall.features.workspaces.file_requests import FilesOf
from sidecall.features.workspaces.uploads import ShownFile
from sidecall.kernel.concurrency.fair_queue import key_of
from sidecall.kernel.concurrency.pools import FILES
from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.errors import RequestError
from sidecall.kernel.core.scopes import CALL, DECIDE, READ
from sidecall.kernel.ports.call_entry import CallEntry, CallFilter, CallPage, to_datetime
from sidecall.kernel.ports.file_errors import UnknownConversation


class ListedConversation(BaseModel, defer_build=True):
    """A conversation in a list."""

    id: str = Field(description="As in the header `Sidecall-Conversation`, or `conversation_id` in the context.")
    first: datetime = Field(description="When its first call began.")
    last: datetime = Field(description="When its last call began or ended.")
    calls: int = Field(description="How many of its calls have ended, also those that are not kept any more.")
    errors: int = Field(description="How many of them have failed.")
    waiting: int = Field(description="How many of its calls wait for a person.")


class Event(BaseModel, defer_build=True):
    """One thing that happened."""

    at: datetime = Field(description="When the call came, the approval was asked for, or the file was written last.")
    type: Literal["call", "approval", "file"]
    id: str = Field(description="The `id` of the call, approval or file.")


class ConversationStory(BaseModel, defer_build=True):
    """What happened in a conversation, the oldest first."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)

    id: str
    first: datetime
    last: datetime
    errors: int
    waiting: int = Field(description="How many of its calls wait for a person.")
    calls: list[CallEntry] = Field(description="Its latest calls, without their answers.")
    approvals: list[ListedApproval]
    files: list[ShownFile]
    timeline: list[Event] = Field(description="All of them in one order.")


# Approvals and files that a story has, at most.
MOST = 1000


async def list_page(
    parts: Parts, caller: Caller, limit: int, before: tuple[float, str]
) -> tuple[list[ListedConversation], tuple[float, str] | None]:
    """List conversations that a caller may see, the latest first, and where the next page begins.

    Raises:
        HistoryOff: Nothing is kept of calls that have ended.
    """
    search = ConversationSearch(caller.tenant, _find_whose(caller), 0.0, before, limit + 1)
    found = await parts.history.list_conversations(search)
    waiting = await _count_waiting(parts, caller) if found else {}
    shown = [_show(key.id, count, waiting.get(key.id, 0)) for key, count in found[:limit]]
    return shown, _find_end(found[:limit]) if len(found) > limit else None


def _find_whose(caller: Caller) -> str:
    return EVERYONE if caller.may(READ) else name_caller(caller)


async def _count_waiting(parts: Parts, caller: Caller) -> Mapping[str, int]:
    by = None if _sees_approvals(caller) else caller.subject
    return await parts.approvals.count_by_conversation(caller.tenant, by)


def _sees_approvals(caller: Caller) -> bool:
    """Return whether a caller may see the approvals of others."""
    return caller.may(DECIDE)


def _show(name: str, count: ConversationCount, waiting: int) -> ListedConversation:
    times = {"first": to_datetime(count.first), "last": to_datetime(count.last)}
    return ListedConversation(id=name, **times, calls=count.calls, errors=count.errors, waiting=waiting)


def _find_end(found: Sequence[CountedConversation]) -> tuple[float, str]:
    key, count = found[-1]
    return count.last, key.id


async def tell_story(
    parts: Parts, caller: Caller, conversation_id: str, limit: int, cursor: str | None
) -> tuple[ConversationStory, str | None]:
    """Tell what happened in a conversation, as far as a caller may see it, and where its earlier calls begin.

    Raises:
        UnknownConversation: The caller may see nothing of it.
    """
    mine = None if caller.may(READ) else caller.subject
    wanted = CallFilter(caller.tenant, caller=mine, conversation_id=conversation_id)
    page = await list_calls(parts, wanted, limit, cursor)
    count = await parts.history.find_conversation(ConversationKey(caller.tenant, _find_whose(caller), conversation_id))
    approvals: list[ListedApproval] = []
    files: list[ShownFile] = []
    if cursor is None:  # Later pages have calls only, which have ended or are remembered.
        running = await list_in_flight(parts, wanted, limit, None)
        page = CallPage([*running.calls, *page.calls], page.cursor)
        approvals = await _list_approvals(parts, caller, conversation_id)
        files = await _list_files(parts, caller, conversation_id)
    if not (page.calls or approvals or files or count):
        raise UnknownConversation
    return _tell(conversation_id, page, approvals, files, count), page.cursor


async def _list_approvals(parts: Parts, caller: Caller, conversation_id: str) -> list[ListedApproval]:
    found: list[ListedApproval] = []
    cursor = None
    while len(found) < MOST:
        matching = {"conversation_id": conversation_id}
        page = await parts.approvals.list(caller.tenant, None, MOST, cursor, with_expired=True, matching=matching)
        found += page.approvals if _sees_approvals(caller) else [it for it in page.approvals if is_of(it, caller)]
        if page.cursor is None:
            break
        cursor = page.cursor
    return found[:MOST]


def is_of(approval: ListedApproval, caller: Caller) -> bool:
    """Return whether a caller has sent the call that waits."""
    return approval.requested_by == caller.subject


async def _list_files(parts: Parts, caller: Caller, conversation_id: str) -> list[ShownFile]:
    if not caller.may(CALL):
        return []
    files = FilesOf(parts.workspaces, caller, conversation_id)
    try:
        listing = await FILES.run_for(key_of(caller), files.list, None, MOST)
    except RequestError:  # There are none.
        return []
    return sorted(listing.data, key=lambda file: (file.created_at, file.path))


def _tell(
    conversation_id: str,
    page: CallPage,
    approvals: list[ListedApproval],
    files: list[ShownFile],
    count: ConversationCount | None,
) -> ConversationStory:
    calls = sorted((call.model_copy(update={"message": None}) for call in page.calls), key=lambda call: call.id)
    timeline = sorted(_list_events(calls, approvals, files), key=lambda event: event.at)
    at = [event.at for event in timeline] or [to_datetime(time.time())]
    return ConversationStory(
        id=conversation_id,
        first=min(at[0], to_datetime(count.first)) if count else at[0],
        last=max(at[-1], to_datetime(count.last)) if count else at[-1],
        errors=count.errors if count else sum(call.status in ("failed", "cancelled") for call in calls),
        waiting=sum(approval.status == "pending" for approval in approvals),
        calls=calls,
        approvals=approvals,
        files=files,
        timeline=timeline,
    )


def _list_events(
    calls: Sequence[CallEntry], approvals: Sequence[ListedApproval], files: Sequence[ShownFile]
) -> list[Event]:
    return [
        *(Event(at=call.created_at, type="call", id=call.id) for call in calls),
        *(Event(at=approval.created_at, type="approval", id=approval.id) for approval in approvals),
        *(Event(at=_to_time(file), type="file", id=file.id) for file in files),
    ]


def _to_time(file: ShownFile) -> datetime:
    return to_datetime(file.created_at)
