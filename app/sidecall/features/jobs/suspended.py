"""End calls that wait for a person: by a decision, or by cancellation."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from sidecall.features.approvals.record import REFUSED, Withdrawal, describe_beginning, describe_decision
from sidecall.features.jobs.completion import end_cancelled, end_expired, end_unwanted, end_with
from sidecall.features.jobs.errors import UnknownCall
from sidecall.features.jobs.records import CallDecision, LostCall
from sidecall.features.jobs.submission import Show, show_nothing
from sidecall.features.ledger.ledger import Ledger
from sidecall.kernel.concurrency.coroutines import settle
from sidecall.kernel.core.errors import ApprovalConflict, UnknownApproval
from sidecall.kernel.core.messages import ToolCall, ToolMessage
from sidecall.kernel.core.record import CallRecord
from sidecall.kernel.pipeline.batch import Find
from sidecall.kernel.ports.approvals.approval import Approval
from sidecall.kernel.ports.approvals.rules import Decided
from sidecall.kernel.ports.call_entry import CallEntry
from sidecall.storage.notices import Notices

News = asyncio.Future[CallEntry | None]


class CompletionWaiters:
    """Deliver the completion of a call to its waiters here, and a notice of it to other servers."""

    def __init__(self, notices: Notices | None = None) -> None:
        self._notices = notices
        self._waiting: dict[str, list[News]] = {}

    @contextmanager
    def listen(self, call_id: str) -> Iterator[News]:
        """Wait for news of a call once: its entry when it has ended, None for another change, or an error."""
        news = self.join(call_id)
        try:
            yield news
        finally:
            self.leave(call_id, news)

    def join(self, call_id: str) -> News:
        """Add a waiter; it has to leave again."""
        news: News = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(call_id, []).append(news)
        return news

    def __contains__(self, call_id: str) -> bool:
        return call_id in self._waiting

    def leave(self, call_id: str, news: News) -> None:
        """Stop waiting."""
        listeners = self._waiting[call_id]
        listeners.remove(news)
        if not listeners:
            del self._waiting[call_id]
        if news.done() and not news.cancelled():
            news.exception()  # A waiter that has stopped waiting needs no news.

    def publish(self, call_id: str, news: CallEntry | BaseException | None = None) -> None:
        """Deliver news to all waiters of this call, at all servers."""
        self.notify_others(call_id)
        self.deliver(call_id, news)

    def notify_others(self, call_id: str) -> None:
        """Notify other servers that this call has changed."""
        if self._notices is not None:
            self._notices.tell("changed", call_id)

    def wake_all(self) -> None:
        """Have all who wait look for themselves."""
        for call_id in list(self._waiting):
            self.deliver(call_id)

    def deliver(self, call_id: str, news: CallEntry | BaseException | None = None) -> None:
        """Deliver news to all waiters of this call in this process."""
        for waiting in self._waiting.get(call_id, ()):
            if waiting.done():
                continue
            if isinstance(news, BaseException):
                waiting.set_exception(news)
            else:
                waiting.set_result(news)


async def wait_for_news(news: News, seconds: float) -> CallEntry | None:
    """Wait up to so many seconds for news; None if there are none, or they do not include the call's state."""
    # Cheaper than asyncio's own timeouts, which take a task or two.
    timer = asyncio.get_running_loop().call_later(seconds, settle, news)
    try:
        return await news
    finally:
        timer.cancel()


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

    async def hold_again(self, entry: CallEntry) -> None:
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
