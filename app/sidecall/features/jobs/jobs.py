"""Accept durable calls, whose answers survive a crash, and delete ended ones to keep room."""

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import AsyncExitStack

from sidecall.features.approvals.recovery import OrphanRecovery
from sidecall.features.audit.auditor import Auditor
from sidecall.features.credentials.resume import SignInWaits
from sidecall.features.jobs.errors import CallEnded, CallNotKept, TooManyJobs, UnknownCall
from sidecall.features.jobs.event_log import EventLogs
from sidecall.features.jobs.idempotency_keys import CallKey, make_call_key
from sidecall.features.jobs.notification_handler import NotificationHandler, ProgressReader, Sights, watch_call
from sidecall.features.jobs.progress_writer import ProgressWriter
from sidecall.features.jobs.records import Acceptance
from sidecall.features.jobs.recovery import JobLoad, JobReconciler
from sidecall.features.jobs.retention import Retention
from sidecall.features.jobs.runner import Runner
from sidecall.features.jobs.state_machine import CompletionWriter, SuspendedCalls, end_unwanted, may_repeat
from sidecall.features.jobs.stores import AcceptedCall
from sidecall.features.jobs.submission import JobLimits, Show, Submission, Submitted, entry_of, show_nothing
from sidecall.features.jobs.waiters import CompletionWaiters, wait_for_news
from sidecall.features.ledger.ledger import Ledger
from sidecall.kernel.concurrency.coroutines import await_all, outlast
from sidecall.kernel.core.call_record import CallRecord
from sidecall.kernel.core.errors import ToolTimeout
from sidecall.kernel.core.invocation import CallRequest, new_invocation_id
from sidecall.kernel.core.messages import ToolMessage
from sidecall.kernel.core.origin import may_name_origin
from sidecall.kernel.core.overload import Overloaded, StoreUnavailable
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.pipeline.batch import Find
from sidecall.kernel.pipeline.format import refuse
from sidecall.kernel.pipeline.hooks import is_visible
from sidecall.kernel.pipeline.pipeline import Pipeline
from sidecall.kernel.ports.approvals.approval import Approval, ApprovalRequired
from sidecall.kernel.ports.call_entry import CallEntry, CallFilter, CallPage
from sidecall.kernel.ports.workspaces import FIELD, HEADER, require_conversation

logger = logging.getLogger("sidecall")

# Seconds after which waiters poll the ledger: another server may have ended their call.
_LOOK = 1.0
_QUEUED = "So many calls are queued that this server takes no more."
_REFUSED = "The call was refused before it began, and nothing of it is kept; send it again."
_FULL = "So many calls are remembered, none of which may be forgotten yet, that this server takes no more."


class Jobs:
    """Run calls that are stored before they are accepted, and whose answers are stored.

    The states of a call in the ledger: queued or running, perhaps awaiting approval, then ended. Each run is an
    attempt, and only the last attempt may end the call.
    """

    def __init__(
        self,
        ledger: Ledger,
        pipeline: Pipeline,
        find: Find,
        limits: JobLimits | None = None,
        show: Show = show_nothing,
    ) -> None:
        """Take the parts.

        Args:
            ledger: The store of calls.
            pipeline: Runs the calls.
            find: Finds a tool by its name.
            limits: Bounds of running and queued calls.
            show: Writes arguments without hidden values.
        """
        self._calls = ledger.calls
        self._approvals = ledger.approvals
        self._ledger = ledger
        self.limits = limits or JobLimits()
        self._show = show
        self._find = find
        self._waiters = CompletionWaiters(ledger.notifications if ledger.is_shared else None)
        self._listening = 0
        self._pipeline = pipeline
        self._held = SuspendedCalls(ledger, find, self._waiters, show)
        writer = CompletionWriter(ledger.calls, self._waiters, self._held)
        progress = None if ledger.progress is None else ProgressWriter(ledger.progress, ledger.notifications)
        event_logs = EventLogs(is_shared=ledger.is_shared, progress=progress)
        self._runner = Runner(ledger.calls, pipeline, find, writer, self.limits.running, event_logs)
        self._progress = ProgressReader(ledger.progress, event_logs, self._runner.__contains__)
        self.waits = SignInWaits(pipeline, ledger.approvals, self.end_awaiting)
        auditor = Auditor(ledger.audit)
        self._orphans = OrphanRecovery(pipeline, ledger.approvals, self.end_awaiting, self._held.remembers, auditor)
        self._retention = Retention(ledger.calls.kept)
        self._reconciler = JobReconciler(ledger, self._runner, self._held, find, self._waiters, self.limits)
        ledger.notifications.attach(
            NotificationHandler(ledger.heartbeat, self._runner, self._reconciler, self._waiters, self._progress)
        )
        self.load = JobLoad(self._runner, self._reconciler, self.limits)

    async def open(self) -> None:
        """Recover calls of earlier servers, and start to run queued ones."""
        self._runner.open()
        self._orphans.open()
        await self._reconciler.open()
        await self._retention.open()

    async def close(self, patience: float = 0.0) -> None:
        """Start no more calls; after so many seconds those that may run twice are left to another server."""
        closing = [self.waits.close(patience), self._orphans.close(patience)]
        if not self._reconciler.is_open:
            await await_all(closing)
            return
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self._reconciler.close)
            stack.push_async_callback(self._retention.close)
            await await_all([*closing, self._runner.close(patience)])

    async def submit(self, request: CallRequest, how: Submission) -> Submitted:
        """Accept a call: once this returns it will be answered.

        Raises:
            KeyReused: Its key was sent before, with another call.
            MissingContext: Its conversation id is invalid.
            TooManyJobs: The queue or the store is full.
            StoreUnavailable: The store is unavailable.
        """
        begins = how.waits or (self._runner.free > 0 and self._begins_here(request))
        lacks_place = not begins and self._reconciler.queued >= self.limits.queued
        if lacks_place or (self._calls.kept.is_full and not await self._retention.has_room()):
            if (known := await self._find_known(how.key)) is not None:
                return known
            raise TooManyJobs(_QUEUED if lacks_place else _FULL)
        record = CallRecord.of(request, new_invocation_id())
        if request.sender.deadline is not None:
            record = record.keep_deadline(request.sender.deadline)
        if request.context or may_name_origin(request.sender.headers):
            require_conversation(request.sender.headers, request.context)
        try:
            accepted = await self._accept(record, how, begins=begins)
        except StoreUnavailable:
            # What cannot be written can perhaps be read.
            if (known := await self._find_known(how.key)) is not None:
                return known
            raise
        if accepted is not None:
            return accepted
        known = await self._find_known(how.key)
        # Its key may have expired in this very moment, or its call been refused.
        return await self.submit(request, how) if known is None else known

    def _begins_here(self, request: CallRequest) -> bool:
        """Return whether a call without a waiting client may start at once."""
        share, is_first = self._reconciler.share, self._reconciler.queued <= 0
        if not share.is_on or not share.others:
            return is_first
        if FIELD in request.context or HEADER in request.sender.headers:
            return True  # The files of its conversation may be only here.
        return is_first and share.begins_at_once

    def _accept(self, record: CallRecord, how: Submission, *, begins: bool) -> asyncio.Future[AcceptedCall | None]:
        """Store a call, and start or queue it; None if there is one with its key."""
        owner, call = self._ledger.owner if begins else None, record.tool_call
        acceptance = Acceptance(owner, self._show(call), how.key, how.replay_of, how.callback_url)
        if begins:
            runs_first = how.may_end_first and self._may_run_first(call.name)
            return self._runner.accept(record, acceptance, how, runs_first=runs_first)
        return outlast(self._reconciler.accept(record, acceptance))  # Its client may disconnect while it is stored.

    def _may_run_first(self, name: str) -> bool:
        """Return whether a call may run before it is written: again, or since what is written ends with it."""
        ledger = self._ledger
        return not (ledger.is_lasting or ledger.trouble) or may_repeat(self._find(name))

    async def wait(
        self, entry: CallEntry, seconds: float | None, done: Callable[[CallEntry], bool] = lambda _: False
    ) -> CallEntry:
        """Wait up to so many seconds for the end of a call, or until it is `done`; return its entry.

        Raises:
            RequestError: It could not start, and was deleted.
        """
        until = None if seconds is None else time.monotonic() + seconds
        while not (entry.has_ended or done(entry)):
            left = _LOOK if until is None else min(_LOOK, until - time.monotonic())
            if left <= 0:
                break
            call_id = entry.id
            news = self._waiters.join(call_id)
            try:
                if call_id not in self._runner and call_id not in self._reconciler:
                    entry = await self.get(call_id, entry.tenant)  # It may have ended before anybody listened.
                    if entry.has_ended or done(entry):
                        break
                entry = await wait_for_news(news, left) or await self.get(call_id, entry.tenant)
            finally:
                self._waiters.leave(call_id, news)
        return entry

    async def wait_for_known(
        self, entry: CallEntry, seconds: float | None, done: Callable[[CallEntry], bool] = lambda _: False
    ) -> CallEntry:
        """Wait for a call that was sent before, by this client or another.

        Raises:
            RequestError: Too many requests wait, or it could not start.
        """
        if entry.has_ended or done(entry) or seconds == 0:
            return entry
        if self._listening >= self.limits.listening:
            raise Overloaded(f"Requests that wait already for earlier calls: {self._listening}.", retry_after=1)
        self._listening += 1
        try:
            return await self.wait(entry, seconds, done)
        except UnknownCall:  # Another server knows why, and tells its own clients.
            raise Overloaded(_REFUSED, retry_after=1) from None
        finally:
            self._listening -= 1

    def watch(self, entry: CallEntry, after: int = 0) -> Sights:
        """Follow a call until it has ended; `after` is the number of the last received event."""
        return watch_call(
            entry.id,
            after,
            self._runner.event_logs,
            self._waiters,
            lambda: self.get(entry.id, entry.tenant),
            self._progress,
        )

    async def run(self, request: CallRequest, tool: CompiledTool) -> ToolMessage:
        """Run a call of a tool that identifies repeated calls, once, and return its answer.

        Calls of unknown or hidden tools are not stored.

        Raises:
            ApprovalRequired: It waits for a person.
            RequestError: It was refused.
        """
        if not await is_visible(tool, request.sender.caller, request.context):
            return await self._pipeline.run(request)
        await self._pipeline.gate.count(request, tool)
        key = make_call_key(request, tool, None, self.limits.key_ttl)
        submitted = await self.submit(request, Submission(key, waits=True))
        # A new call has its end by then.
        deadline = request.sender.deadline
        seconds = deadline.left if deadline and isinstance(submitted, CallEntry) else None
        wait = self.wait_for_known if isinstance(submitted, CallEntry) else self.wait
        entry = await wait(entry_of(submitted), seconds, lambda entry: entry.status == "awaiting_approval")
        if entry.message is not None:
            return entry.message
        if entry.approval_id is None:
            assert deadline is not None
            return refuse(ToolTimeout(tool.name, deadline.seconds), request.call)
        raise ApprovalRequired.of((await self._approvals.get(entry.approval_id)).approval)

    async def get(self, call_id: str, tenant: str) -> CallEntry:
        """Return the entry of a call in its present state.

        Raises:
            UnknownCall: This tenant has none of that id.
        """
        entry = await self._calls.get(call_id, tenant)
        return entry if entry.status != "awaiting_approval" else await self._held.settle(entry)

    async def get_record(self, call_id: str, tenant: str) -> CallRecord:
        """Return a call as it was sent.

        Raises:
            UnknownCall: This tenant has none of that id.
            CallNotKept: It is not kept.
        """
        await self._calls.get(call_id, tenant)
        record = await self._calls.get_record(call_id)
        if record is None or record.lost:
            raise CallNotKept
        return record

    async def list(self, wanted: CallFilter, limit: int, cursor: str | None, *, is_whole: bool = False) -> CallPage:
        """List calls, newest first, with their answers where they are wanted whole."""
        return await self._calls.list(wanted, limit, cursor, is_whole=is_whole)

    async def _find_known(self, key: CallKey | None) -> CallEntry | None:
        known = None if key is None else await self._calls.find(key)
        return known if known is None or known.status != "awaiting_approval" else await self._held.settle(known)

    async def end_awaiting(self, approval: Approval) -> None:
        """End the call that waited for this approval; if the store is unavailable, later."""
        try:
            held = await self._calls.find_suspended(approval.id)
            if held is not None and approval.status == "pending":
                await self._held.suspend_again(held)
            elif held is not None:
                await self._held.settle(held, approval.message)
        except StoreUnavailable:
            logger.warning("the call of approval %s cannot be ended just now", approval.id)

    async def cancel(self, call_id: str, tenant: str, by: str = "") -> CallEntry:
        """Cancel a queued, running or waiting call; a waiting one can no longer be approved.

        Raises:
            UnknownCall: This tenant has none of that id.
            CallEnded: It has ended.
        """
        entry = await self.get(call_id, tenant)
        if entry.has_ended:
            raise CallEnded(f"The call has ended already: it is {entry.status}.")
        if entry.status != "awaiting_approval":
            is_told = self._runner.cancel(call_id, by) or await self._cancel_elsewhere(entry, by)
            entry = await (self.wait(entry, _LOOK) if is_told else self.get(call_id, tenant))
        # It may have begun to wait only now, on a server that has stopped since.
        entry = await self._held.call_off(entry, by)
        # Of two concurrent ones, one writes the end.
        return await self.wait(entry, _LOOK) if await self._held.is_rejected(entry) else entry

    async def _cancel_elsewhere(self, entry: CallEntry, by: str) -> bool:
        """End a queued call, or ask the server that runs it to cancel; False where it is neither."""
        if entry.status == "running" and await self._ledger.queue.ask_to_cancel(entry.id):
            self._ledger.notifications.tell("cancel", entry.id)
            self._runner.cancel(entry.id, by)  # It may have been about to begin here.
            return True
        record = await self._calls.get_record(entry.id)
        assert record is not None
        end = await end_unwanted(entry, record.tool_call, self._approvals, self._find)
        if not await self._ledger.queue.cancel(entry.id, end):
            return False
        self._ledger.notifications.tell("cancel", entry.id)
        if not self._runner.cancel(entry.id, by):
            self._reconciler.note_cancel()
            self._reconciler.drop(entry.id)
            await self._reconciler.count()
            self._waiters.publish(entry.id)
        return True
