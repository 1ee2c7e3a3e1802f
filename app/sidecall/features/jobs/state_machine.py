"""The state machine of a durable call: its statuses, what may follow each, how it ends, and who writes that.

A call is accepted as queued or running, may wait for a person, and ends once. Each run of it is an attempt, and only
the last attempt may end it. `CompletionWriter` writes what becomes of calls that this server runs, `SuspendedCalls` of
those that wait for a person; `recovery.py` does so for queued calls and those of servers that have stopped.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TypeVar, get_args

from sidecall.features.approvals.record import REFUSED, Withdrawal, describe_beginning, describe_decision
from sidecall.features.approvals.steps import takes_user_tokens, wants_approval
from sidecall.features.approvals.stores import Approvals
from sidecall.features.jobs.call_record import CallRecord
from sidecall.features.jobs.errors import EXPIRED_MIDWAY, CallCancelled, CallExpired, OutcomeUnknown, UnknownCall
from sidecall.features.jobs.records import CallCompletion, CallDecision, LostCall
from sidecall.features.jobs.running_call import RunningCall, answer_sender
from sidecall.features.jobs.stores import Calls
from sidecall.features.jobs.submission import Show, show_nothing
from sidecall.features.jobs.waiters import CompletionWaiters
from sidecall.features.ledger.ledger import Ledger
from sidecall.kernel.core.errors import ApprovalConflict, RequestError, ToolFailure, UnknownApproval
from sidecall.kernel.core.messages import ToolCall, ToolMessage
from sidecall.kernel.core.overload import StoreUnavailable
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.pipeline.batch import Find
from sidecall.kernel.pipeline.format import refuse
from sidecall.kernel.ports.approvals.approval import Approval
from sidecall.kernel.ports.approvals.questions import asks_inside
from sidecall.kernel.ports.approvals.review import Decided
from sidecall.kernel.ports.call_entry import OPEN, CallEntry, CallStatus

# The statuses of calls that have ended.
ENDS: tuple[CallStatus, ...] = tuple(status for status in get_args(CallStatus) if status not in OPEN)

# From each status (None: it is not stored), those that may follow, and who brings them about. Nothing leaves an end.
TRANSITIONS: Mapping[CallStatus | None, Mapping[CallStatus | None, str]] = {
    None: {
        "queued": "its request, where this server has no room or others have less to do",
        "running": "its request, whose server runs it",
        **dict.fromkeys(ENDS, "the server that ran it, where it ended before it was stored"),
    },
    "queued": {
        "running": "a server that claims it",
        "cancelled": "a client that cancels it",
    },
    "running": {
        "queued": "its server, which has no room or closes, or another that finds it lost; it may run again",
        "awaiting_approval": "its server, where a person has to decide or sign in",
        **dict.fromkeys(ENDS, "its server, by the number of its attempt, or another that finds it lost"),
        None: "its server, which refused it before it began",
    },
    "awaiting_approval": dict.fromkeys(ENDS, "any server, by the decision, its expiry or a client that cancels"),
    **{end: {None: "the server that makes room"} for end in ENDS},
}

# Kinds of failure that have a status of their own.
_STATUS: dict[str, CallStatus] = {"cancelled": "cancelled", "outcome_unknown": "outcome_unknown", "expired": "expired"}


def end_with(message: ToolMessage) -> CallCompletion:
    """Return the end that this answer is."""
    if message.status == "success":
        return CallCompletion("succeeded", None, message)
    kind = message.response_metadata.get("error", {}).get("kind")
    return CallCompletion(_STATUS.get(str(kind), "failed"), kind, message)


def end_unknown(call: ToolCall, call_id: str) -> CallCompletion:
    """Make the end of a call that was cut off and must not run twice."""
    return _end(OutcomeUnknown(), call, call_id)


def end_unanswered(call: ToolCall, call_id: str) -> CallCompletion:
    """Make the completion of a call that may not run twice: its tool has started, and its answer could not be made."""
    return _end(OutcomeUnknown(_NO_ANSWER), call, call_id)


_NO_ANSWER = "Error: the answer of the call could not be made, so its outcome is unknown; it may have had effects."


def end_cancelled(call: ToolCall, call_id: str) -> CallCompletion:
    """Make the completion of a cancelled call."""
    return _end(CallCancelled(), call, call_id)


async def end_unwanted(entry: CallEntry, call: ToolCall, approvals: Approvals, find: Find) -> CallCompletion:
    """Make the completion of a cancelled call that was queued or waited for a person; most of these never ran."""
    if entry.status == "queued":
        never_ran = entry.attempt == 0
    else:
        never_ran = await _waits_from_the_beginning(entry, approvals, find(entry.name))
    end = _end(CallCancelled(_NEVER_RAN) if never_ran else CallCancelled(), call, entry.id)
    end.never_ran = never_ran
    return end


_NEVER_RAN = "Error: the call was cancelled before it ran; it has had no effects."


async def _waits_from_the_beginning(entry: CallEntry, approvals: Approvals, tool: CompiledTool | None) -> bool:
    """Return whether the approval comes before the tool runs; a tool that asks itself has run already."""
    if entry.approval_id is None or tool is None:
        return False
    try:
        record = await approvals.get(entry.approval_id)
    except UnknownApproval:
        return False
    if record.tells_tool or record.approval.description is not None:
        return False
    return tool.options.requires_approval is not False or record.approval.sign_in is not None


def end_expired(call: ToolCall, call_id: str, tool: CompiledTool | None, *, has_begun: bool) -> CallCompletion:
    """Make the completion of a call whose approval expired; the approval no longer says what was asked.

    `has_begun` is true when it certainly ran, since a person had decided about it before.
    """
    if has_begun:
        return _end(CallExpired(EXPIRED_MIDWAY), call, call_id)
    if tool is None or takes_user_tokens(tool):
        return _end(CallExpired(), call, call_id)
    if not wants_approval(tool):
        return _end(CallExpired(EXPIRED_MIDWAY), call, call_id)
    if asks_inside(tool.function):  # It may have run after an earlier approval.
        return _end(CallExpired(), call, call_id)
    end = _end(CallExpired(_UNDECIDED), call, call_id)
    end.never_ran = True
    return end


_UNDECIDED = "Error: nobody decided about this call in time; it did not run."


def _end(failure: ToolFailure, call: ToolCall, call_id: str) -> CallCompletion:
    return end_with(refuse(failure, call).model_copy(update={"id": call_id}))


def may_repeat(tool: CompiledTool | None) -> bool:
    """Return whether a tool's calls may run twice."""
    return tool is not None and bool(tool.options.annotations.idempotent or tool.options.annotations.read_only)


class SuspendedCalls:
    """The calls that wait for a person; any server can end them."""

    def __init__(self, ledger: Ledger, find: Find, waiters: CompletionWaiters, show: Show = show_nothing) -> None:
        self._calls = ledger.calls
        self._queue = ledger.queue
        self._approvals = ledger.approvals
        self._find = find
        self._waiters = waiters
        self._show = show

    async def settle(self, entry: CallEntry, message: ToolMessage | None = None) -> CallEntry:
        """End a call whose approval was answered, with this message if it is known, or has expired."""
        assert entry.approval_id is not None
        record = await self._calls.get_record(entry.id)
        if record is None:
            return entry
        approval = None
        try:
            approval = await self._approvals.find_answered(entry.approval_id)
            message = message or (None if approval is None else approval.message)
            if message is None:
                return entry
            end = end_with(message)
        except UnknownApproval:
            tool = self._find(entry.name)
            has_begun = entry.decided_by is not None
            end = (
                end_expired(record.tool_call, entry.id, tool, has_begun=has_begun)
                if message is None
                else end_with(message)
            )
        end.decision = self._describe(record.tool_call, None if approval is None else describe_decision(approval))
        await self._calls.finish(entry.id, None, end)
        self._waiters.publish(entry.id)
        return await self._calls.get(entry.id, entry.tenant)

    def describe(self, call: ToolCall, decided: Decided) -> CallDecision:
        """Copy a decision, with both the requested and the changed arguments without hidden values."""
        args = decided.asked_args, decided.args
        asked, ran = (None if it is None else self._show(call.model_copy(update={"args": it})) for it in args)
        return CallDecision(decided.by, decided.at, decided.reason, asked, ran, decided.approval_id)

    def _describe(self, call: ToolCall, decided: Decided | None) -> CallDecision | None:
        return None if decided is None else self.describe(call, decided)

    async def suspend_again(self, entry: CallEntry) -> None:
        """Mark a call as waiting again, with the decision that started it; a cancelled one ends."""
        assert entry.approval_id is not None
        record, asked = await self._calls.get_record(entry.id), await self._approvals.get(entry.approval_id)
        if record is None:
            return
        decision = self._describe(record.tool_call, describe_beginning(asked))
        if await self._calls.hold(entry.id, None, entry.approval_id, decision):
            await self.call_off(entry)
        self._waiters.publish(entry.id)

    async def settle_all(self) -> None:
        """End the calls whose approvals were answered or expired, and those whose cancellation was requested."""
        for entry in await self._queue.list_held_cancelled():
            await self.call_off(entry)
        for entry in await self._calls.list_held():
            await self.settle(entry)

    async def call_off(self, entry: CallEntry, by: str = "") -> CallEntry:
        """Cancel a call, so that it can no longer be approved; one that has just been decided continues."""
        if entry.status != "awaiting_approval" or entry.approval_id is None:
            return entry
        record = await self._calls.get_record(entry.id)
        if record is None:
            return entry
        end = await end_unwanted(entry, record.tool_call, self._approvals, self._find)
        withdrawn = await self._withdraw(entry.approval_id, end.message, by)
        if withdrawn is None:
            await self._queue.ask_to_cancel_held(entry.id)  # Should it ask again.
            return await self.settle(entry)
        end.decision = self._describe(record.tool_call, describe_decision(withdrawn))
        await self._calls.finish(entry.id, None, end)
        self._waiters.publish(entry.id)
        return await self._calls.get(entry.id, entry.tenant)

    async def call_off_new(self, record: CallRecord, by: str) -> None:
        """Cancel a call that has just begun to wait."""
        await self.call_off(await self._calls.get(record.id, record.caller.tenant), by)

    async def call_off_queued(self, record: CallRecord) -> None:
        """Cancel a call that was just queued again, and may have started since."""
        await self._queue.cancel(record.id, end_cancelled(record.tool_call, record.id))
        self._waiters.publish(record.id)

    async def hold_lost(self, lost: LostCall) -> bool:
        """Suspend a call that has asked a person although its server did not note that; False if it has not."""
        asked = await self.find_asked(lost.record)
        if asked is None:
            return False
        if await self._calls.hold(lost.id, lost.attempt, asked):
            await self.call_off_new(lost.record, "")
        return True

    async def is_rejected(self, entry: CallEntry) -> bool:
        """Return whether a waiting call is about to end because it was rejected or cancelled."""
        if entry.status != "awaiting_approval" or entry.approval_id is None:
            return False
        try:
            return (await self._approvals.get(entry.approval_id)).approval.status in REFUSED
        except UnknownApproval:
            return False

    async def remembers(self, record: CallRecord) -> bool:
        """Return whether a call is remembered, so that its end is known."""
        try:
            await self._calls.get(record.id, record.caller.tenant)
        except UnknownCall:
            return False
        return True

    async def find_asked(self, record: CallRecord) -> str | None:
        """Find the question that a call asked before it was cancelled; None if there is none."""
        asked = await self._approvals.find(record)
        own = asked is not None and asked.call is not None and asked.call.id == record.id
        return asked.approval.id if own and asked is not None else None

    async def _withdraw(self, approval_id: str, message: ToolMessage, by: str) -> Approval | None:
        """Reject a waiting call; None if it was just decided, or has expired."""
        rejection = Withdrawal(reason="The call was cancelled.")
        try:
            await self._approvals.decide(approval_id, rejection, by)
        except (UnknownApproval, ApprovalConflict):
            return None
        return (await self._approvals.answer(approval_id, message)).approval


T = TypeVar("T")

# Writes a change of a call other than its end.
Write = Callable[[], Awaitable[None]]
# Seconds between tries to write an end down while the store cannot be used.
_PAUSE = 1.0


class CompletionWriter:
    """Write completions to the ledger, then deliver them to waiters.

    While the store is unavailable, writes are retried until `is_closing`. `released` is called when a call is queued
    again.
    """

    def __init__(self, calls: Calls, waiters: CompletionWaiters, held: SuspendedCalls) -> None:
        self._calls = calls
        self._waiters = waiters
        self._held = held
        self.is_closing = False
        self.released: Callable[[], None] = lambda: None

    def describe(self, call: ToolCall, decided: Decided) -> CallDecision:
        """Return the stored decision about a call that has not waited."""
        return self._held.describe(call, decided)

    def write_down(self, running: RunningCall, write: Write | None) -> Awaitable[None]:
        """Write the completion of a call, or another change instead of it."""
        if write is None:
            return self._finish(running)
        answer_sender(running.sender, running.accepted)
        return self.insist(running.id, write)

    async def insist(self, call_id: str, write: Callable[[], Awaitable[T]]) -> T:
        """Write until that succeeds, and meanwhile tell waiters of the call that it does not.

        Raises:
            StoreUnavailable: The server closes.
        """
        while True:
            try:
                return await write()
            except StoreUnavailable as error:
                self._waiters.deliver(call_id, error)
                if self.is_closing:
                    raise
                await asyncio.sleep(_PAUSE)

    async def _finish(self, running: RunningCall) -> None:
        accepted, end = running.accepted, running.end
        assert end is not None
        try:
            at = await self._calls.finish(running.id, running.attempt, end)
        except StoreUnavailable:
            answer_sender(running.sender, accepted)  # Its end is delivered later.
            at = await self.insist(running.id, partial(self._calls.finish, running.id, running.attempt, end))
        if at is not None and accepted is not None:
            accepted.end, accepted.ended_at = end, at
        answer_sender(running.sender, accepted)
        self._waiters.notify_others(running.id)
        if running.id in self._waiters:
            self._waiters.deliver(running.id, None if at is None else running.describe_end(end, at))

    async def hold(self, running: RunningCall, approval_id: str) -> None:
        """Mark a call as waiting for a person; if its cancellation was requested meanwhile, end it."""
        if await self._calls.hold(running.id, running.attempt, approval_id):
            running.is_unwanted = True
        if running.is_unwanted:
            await self._held.call_off_new(running.record, running.cancelled_by)
        self._waiters.publish(running.id)

    async def end_unless_asked(self, running: RunningCall) -> None:
        """End a call that was cancelled; one that has just asked a person waits, or is cancelled as a waiting one."""
        await self.hold_if_asked(running, partial(self._finish, running))

    async def hold_if_asked(self, running: RunningCall, otherwise: Write) -> None:
        """Mark a call as waiting when its question was stored without confirmation."""
        asked = await self._held.find_asked(running.record)
        await (otherwise() if asked is None else self.hold(running, asked))

    async def release(self, running: RunningCall) -> None:
        """Queue a call again, unless its cancellation was requested meanwhile."""
        if await self._calls.release(running.id, running.attempt):
            running.is_unwanted = True
        if running.is_unwanted:
            await self._held.call_off_queued(running.record)
        self.released()

    async def forget(self, running: RunningCall, error: RequestError) -> None:
        """Delete a call that was refused before it began; its waiters get this error."""
        await self._calls.forget(running.id, running.attempt)
        self._waiters.publish(running.id, error)
