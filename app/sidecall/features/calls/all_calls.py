"""Stored calls and the history of ended ones, as one list."""

from functools import partial
from heapq import merge
from operator import attrgetter

from sidecall.features.calls.in_flight import cancel_in_flight, find_in_flight, list_in_flight
from sidecall.features.jobs.errors import CallEnded, UnknownCall
from sidecall.features.server_parts import Parts
from sidecall.kernel.concurrency.loop_turns import make_each
from sidecall.kernel.core.call_record import CallRecord
from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.scopes import OPERATE, READ
from sidecall.kernel.ports.call_entry import CallEntry, CallFilter, CallPage

_by_id = attrgetter("id")


async def list_calls(
    parts: Parts, wanted: CallFilter, limit: int, cursor: str | None = None, *, is_whole: bool = False
) -> CallPage:
    """List calls, newest first, after a cursor.

    Args:
        parts: The parts of the server.
        wanted: The filter.
        limit: The maximum number; a page has fewer when they are large.
        cursor: The cursor of the page before.
        is_whole: Whether to read their answers too.
    """
    remembered = await parts.jobs.list(wanted, limit, cursor, is_whole=is_whole)
    others = partial(list_in_flight, parts) if wanted.status == "running" else parts.history.list
    past = await others(wanted, limit, cursor)
    page = join_pages(remembered, past, limit)
    return CallPage(await make_each(parts.add_tags, page.calls), page.cursor)


def join_pages(remembered: CallPage, past: CallPage, limit: int) -> CallPage:
    """Merge two pages that begin at the same place, as far as both reach.

    A page may be short and still have a next one, since calls may have been forgotten in between.
    """
    # Of two entries with one id the stored one wins: it has the decision, and was published.
    found = {entry.id: entry for entry in merge(past.calls, remembered.calls, key=_by_id, reverse=True)}
    found |= {entry.id: entry for entry in remembered.calls}
    reach = max(remembered.cursor or "", past.cursor or "")
    sure = [entry for entry in found.values() if entry.id >= reach]
    if len(sure) > limit:
        return CallPage(sure[:limit], sure[limit - 1].id)
    return CallPage(sure, reach or None)


async def find_call(parts: Parts, call_id: str, caller: Caller) -> CallEntry:
    """Find a call that a caller may see, in its present state: its own, or with the scope one of its tenant.

    Raises:
        UnknownCall: There is none, or it is not kept any more.
    """
    entry = await _find_of_tenant(parts, call_id, caller.tenant)
    if entry.caller != caller.subject and not caller.may(READ):
        raise UnknownCall
    return entry


async def _find_of_tenant(parts: Parts, call_id: str, tenant: str) -> CallEntry:
    try:
        entry = await parts.jobs.get(call_id, tenant)
    except UnknownCall:
        running = await find_in_flight(parts, call_id, tenant)
        return running or await parts.history.get(call_id, tenant)
    return parts.add_tags(entry)


async def cancel_call(parts: Parts, call_id: str, caller: Caller) -> CallEntry:
    """Cancel a call that runs, with or without its client.

    Raises:
        UnknownCall: There is none that the caller may see and cancel.
        MissingScope: It belongs to another caller, and the scope to cancel or see it is missing.
        CallEnded: It has ended.
    """
    entry = await _find_of_tenant(parts, call_id, caller.tenant)
    if entry.caller != caller.subject:
        if not (caller.may(READ) or caller.may(OPERATE)):
            raise UnknownCall
        parts.auditor.require(caller, OPERATE)
        parts.auditor.require(caller, READ)  # Its client gets the entry; watchers get the message.
    if entry.worker is not None:
        return await cancel_in_flight(parts, entry, caller)
    try:
        return parts.add_tags(await parts.jobs.cancel(call_id, caller.tenant, caller.subject))
    except UnknownCall:
        raise CallEnded(f"The call has ended already: it is {entry.status}.") from None


async def find_sent(parts: Parts, call_id: str, tenant: str) -> CallRecord:
    """Return a call as it was sent.

    Raises:
        UnknownCall: This tenant has none of that id.
        CallNotKept: The request is not kept, or not completely.
    """
    try:
        return await parts.jobs.get_record(call_id, tenant)
    except UnknownCall:
        return await parts.history.get_sent(call_id, tenant)
