"""Plain calls that run: in this worker, and in the others of its server."""

import asyncio
import os
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from sidecall.features.jobs.errors import CallCancelled, CallEnded
from sidecall.features.jobs.records import end_entry
from sidecall.features.jobs.state_machine import end_with
from sidecall.features.server_parts import Parts
from sidecall.kernel.core.context import Caller, cut_id
from sidecall.kernel.core.invocation import Invocation, find_progress
from sidecall.kernel.core.messages import ToolMessage
from sidecall.kernel.core.origin import get_origin
from sidecall.kernel.pipeline.pipeline import Pipeline
from sidecall.kernel.ports.call_entry import CallEntry, CallFilter, CallPage
from sidecall.storage.database import first_id

# What workers ask each other.
_LIST, _CANCEL = "calls in flight", "cancel a call"
# Seconds for which a cancelled call is waited for: its tool may go on for a while.
_PATIENCE = 1.0
# Seconds between two looks at a call that is waited for.
_LOOK = 0.2


def open_in_flight(parts: Parts) -> None:
    """Answer the other workers of this server about calls from now on."""
    if parts.lifecycle.peers is None:
        return

    async def answer_list(asked: Any) -> Any:
        return [entry.model_dump(mode="json") | {"tenant": entry.tenant} for entry in _list_here(parts.pipeline, asked)]

    async def answer_cancel(asked: Any) -> Any:
        ended = await _cancel_here(parts.pipeline, asked)
        return None if ended is None else ended.model_dump(mode="json")

    parts.lifecycle.peers.handle({_LIST: answer_list, _CANCEL: answer_cancel})


def _list_here(pipeline: Pipeline, asked: Mapping[str, str]) -> list[CallEntry]:
    """List the calls of a tenant that run in this process; one of them if an id is asked for."""
    call_id = asked.get("id")
    found = pipeline.in_flight.list() if call_id is None else [pipeline.in_flight.get(call_id)]
    return [_describe(it) for it in found if it is not None and it.request.sender.caller.tenant == asked["tenant"]]


def _describe(invocation: Invocation) -> CallEntry:
    """Describe a running call; its arguments are not, since secrets in them are looked for at its end."""
    caller, tool = invocation.request.sender.caller, invocation.tool
    age = time.monotonic() - invocation.started
    began = datetime.now(UTC) - timedelta(seconds=age)
    return CallEntry(
        id=invocation.id,
        name=tool.name,
        tool_call_id=cut_id(invocation.request.call.id),
        status="running",
        caller=caller.subject,
        tenant=caller.tenant,
        is_durable=False,
        attempt=1,
        created_at=began,
        started_at=began,
        queue_ms=round(invocation.waited * 1000, 3),
        attempts=invocation.attempts,
        tags=tuple(tool.options.tags),
        progress=find_progress(invocation),
        worker=os.getpid(),
        **get_origin(invocation)._asdict(),
    )


async def _ask(parts: Parts, topic: str, asked: Mapping[str, str]) -> list[Any] | None:
    """Return the answers of all workers; None where this process is alone."""
    found = await parts.lifecycle.ask_workers(topic, asked)
    return None if found is None else [answer for answer in found["answers"].values() if answer]


async def _list_everywhere(parts: Parts, asked: Mapping[str, str]) -> list[CallEntry]:
    answers = await _ask(parts, _LIST, asked)
    if answers is None:
        return _list_here(parts.pipeline, asked)
    return [CallEntry.model_validate(entry) for answer in answers for entry in answer]


async def list_in_flight(parts: Parts, wanted: CallFilter, limit: int, cursor: str | None) -> CallPage:
    """List plain calls that run, newest first, after a cursor."""
    found = [it for it in await _list_everywhere(parts, {"tenant": wanted.tenant}) if _fits(it, wanted, cursor)]
    found.sort(key=lambda entry: entry.id, reverse=True)
    return CallPage(found[:limit], found[limit - 1].id if len(found) > limit else None)


def _fits(entry: CallEntry, wanted: CallFilter, cursor: str | None) -> bool:
    first = "" if wanted.since is None else first_id(wanted.since)
    before = [it for it in (cursor, None if wanted.until is None else first_id(wanted.until)) if it is not None]
    same = (
        (wanted.caller, entry.caller),
        (wanted.conversation_id, entry.conversation_id),
        (wanted.trace_id, entry.trace_id),
        (wanted.request_id, entry.request_id),
    )
    return (
        entry.id >= first
        and all(entry.id < it for it in before)
        and wanted.kind is None
        and (wanted.names is None or entry.name in wanted.names)
        and all(value in (None, own) for value, own in same)
    )


async def find_in_flight(parts: Parts, call_id: str, tenant: str) -> CallEntry | None:
    """Find a plain call that runs; None if none does."""
    found = await _list_everywhere(parts, {"tenant": tenant, "id": call_id})
    return found[0] if found else None


async def wait_in_flight(parts: Parts, entry: CallEntry, seconds: float) -> CallEntry:
    """Wait up to so many seconds for the end of a plain call, and return its entry.

    Raises:
        UnknownCall: It has ended, and no history keeps it.
    """
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        await asyncio.sleep(min(_LOOK, left))
        found = await find_in_flight(parts, entry.id, entry.tenant)
        if found is None:
            return await parts.history.get(entry.id, entry.tenant)
        entry = found
    return entry


async def cancel_in_flight(parts: Parts, entry: CallEntry, caller: Caller) -> CallEntry:
    """Cancel a plain call, and return its entry: it may still run if its tool does not stop at once.

    Raises:
        CallEnded: It has ended meanwhile, or is about to.
    """
    asked = {"tenant": caller.tenant, "id": entry.id}
    answers = await _ask(parts, _CANCEL, asked)
    if answers is not None:
        return CallEntry.model_validate({"tenant": entry.tenant, **answers[0]}) if answers else _refuse()
    return await _cancel_here(parts.pipeline, asked) or _refuse()


def _refuse() -> CallEntry:
    raise CallEnded("The call has ended already, or is about to.")


async def _cancel_here(pipeline: Pipeline, asked: Mapping[str, str]) -> CallEntry | None:
    """Cancel a call of this process and wait a moment for its end; None if there is none to cancel."""
    found = _list_here(pipeline, asked)
    ended = pipeline.in_flight.cancel(asked["id"], CallCancelled()) if found else None
    if ended is None:
        return None
    done, _ = await asyncio.wait([ended], timeout=_PATIENCE)
    return _end(found[0], ended.result()) if done else found[0]


def _end(entry: CallEntry, message: ToolMessage | None) -> CallEntry:
    """Return the entry of a call that has ended with this answer, or without one."""
    if message is None:
        return entry.model_copy(update={"status": "cancelled", "kind": "cancelled"})
    return end_entry(entry, end_with(message), datetime.now(UTC).timestamp())
