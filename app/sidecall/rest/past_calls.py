"""Calls that are remembered and calls that have ended, as one list."""

from heapq import merge
from operator import attrgetter

from sidecall.core.calls.entry import CallEntry, CallFilter, CallPage
from sidecall.core.calls.errors import CallEnded, UnknownCall
from sidecall.core.record import CallRecord
from sidecall.rest.parts import Parts

_by_id = attrgetter("id")


async def list_calls(parts: Parts, wanted: CallFilter, limit: int, cursor: str | None = None) -> CallPage:
    """List calls, newest first, no more than `limit`, after the one that the page before names."""
    remembered = await parts.jobs.list(wanted, limit, cursor)
    past = await parts.history.list(wanted, limit, cursor)
    # Of two of one id that which is remembered counts: a person has decided about it, and both were told of its end.
    found = {entry.id: entry for entry in merge(past.calls, remembered.calls, key=_by_id, reverse=True)}
    found |= {entry.id: entry for entry in remembered.calls}
    has_more = len(found) > limit or remembered.cursor is not None or past.cursor is not None
    chosen = list(found.values())[:limit]
    return CallPage(chosen, chosen[-1].id if has_more and chosen else None)


async def find_call(parts: Parts, call_id: str, tenant: str) -> CallEntry:
    """Find a call as it stands now.

    Raises:
        UnknownCall: This tenant has none of that id, or it is not kept any more.
    """
    try:
        return await parts.jobs.get(call_id, tenant)
    except UnknownCall:
        return await parts.history.get(call_id, tenant)


async def cancel_call(parts: Parts, call_id: str, tenant: str, by: str) -> CallEntry:
    """Cancel a call that goes on without its client.

    Raises:
        UnknownCall: This tenant has none of that id.
        CallEnded: It has ended.
    """
    try:
        return await parts.jobs.cancel(call_id, tenant, by)
    except UnknownCall:
        entry = await parts.history.get(call_id, tenant)
        raise CallEnded(f"The call has ended already: it is {entry.status}.") from None


async def find_sent(parts: Parts, call_id: str, tenant: str) -> CallRecord:
    """Return a call as it was sent.

    Raises:
        UnknownCall: This tenant has none of that id.
        CallNotKept: What was sent is not kept, or not all of it.
    """
    try:
        return await parts.jobs.get_record(call_id, tenant)
    except UnknownCall:
        return await parts.history.get_sent(call_id, tenant)
