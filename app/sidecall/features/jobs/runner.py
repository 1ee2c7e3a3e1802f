"""Run remembered calls, each in a task of its own."""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial

from sidecall.features.jobs.event_log import EventLogs, EventPublisher
from sidecall.features.jobs.records import Acceptance, CallCompletion, ClaimedCall
from sidecall.features.jobs.running_call import Accepted, CallTask, RunningCall, answer_sender
from sidecall.features.jobs.state_machine import (
    CompletionWriter,
    Write,
    end_cancelled,
    end_unanswered,
    end_unknown,
    end_with,
    may_repeat,
)
from sidecall.features.jobs.stores import AcceptedCall, Calls
from sidecall.features.jobs.submission import Submission
from sidecall.kernel.concurrency.coroutines import TO_CANCEL, await_rest, cancel_from_outside
from sidecall.kernel.core.call_record import CallRecord
from sidecall.kernel.core.context import EventListener
from sidecall.kernel.core.errors import RequestError
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.messages import ToolMessage
from sidecall.kernel.core.overload import BudgetSpent, CallRefused, Overloaded, StoreUnavailable, TooManyApprovals
from sidecall.kernel.pipeline.batch import Find, answer_for, end_by_problem, is_end
from sidecall.kernel.pipeline.pipeline import Pipeline
from sidecall.kernel.ports.approvals.approval import ApprovalRequired

logger = logging.getLogger("sidecall")

# The name of new calls' tasks; the loop would make one up for each.
_NAME = "call"


class Runner:
    """Run up to `most` calls at once; `freed` is called when one has ended."""

    def __init__(
        self, calls: Calls, pipeline: Pipeline, find: Find, writer: CompletionWriter, most: int, event_logs: EventLogs
    ) -> None:
        self._calls = calls
        self._pipeline = pipeline
        self._find = find
        self.writer = writer
        self._most = most
        self._running: dict[str, RunningCall] = {}
        self.event_logs = event_logs
        self._expected: dict[str, CallTask] = {}
        self._dropped: set[str] = set()
        self._pausing = 0
        self.freed: Callable[[], None] = lambda: None

    def open(self) -> None:
        """Accept calls, also after a close."""
        self.writer.is_closing = False

    @property
    def free(self) -> int:
        """How many more calls may start now."""
        return 0 if self.writer.is_closing else self._most - self.running

    @property
    def running(self) -> int:
        """How many calls run or are about to; as many again may pause."""
        return len(self._running) + len(self._expected) - min(self._pausing, self._most)

    def count_by_tool(self) -> Counter[str]:
        """Count the calls of each tool that run."""
        return Counter(running.record.tool_call.name for running in self._running.values())

    def __contains__(self, call_id: str) -> bool:
        return call_id in self._running or call_id in self._expected

    def accept(self, call: CallRecord, acceptance: Acceptance, how: Submission, *, runs_first: bool) -> Accepted:
        """Store a new call as running here, and run it even if its client disconnects.

        The result has the call once it is durable; None if there is one with its key. With `runs_first` it may start
        before it is stored.
        """
        loop, call_id = asyncio.get_running_loop(), call.id
        accepted = loop.create_future()
        if runs_first:
            running = self._running[call_id] = RunningCall(call_id, call, 1, None, how.waits)
            work = self._carry_out_first(running, acceptance, accepted, loop)
            running.task = CallTask(work, loop=loop, name=_NAME)
        else:
            # Other servers count it as this one's while that is being stored.
            work = self._carry_out_new(call, acceptance, accepted, how, loop)
            self._expected[call_id] = CallTask(work, loop=loop, name=_NAME)
        return accepted

    async def _carry_out_first(
        self, running: RunningCall, acceptance: Acceptance, accepted: Accepted, loop: asyncio.AbstractEventLoop
    ) -> None:
        """Run a call; one that ends without waiting is stored once, with its end."""
        teller = EventPublisher(self.event_logs, running.id, 1, loop)
        try:
            work = self._run(running, teller.tell)
            try:
                awaited = work.send(None)
            except StopIteration as done:
                running.note_end()
                if done.value is None:
                    answer_sender(accepted, await self._store(running, acceptance, running.end))
                else:
                    await self._write_first(running, acceptance, accepted, done.value)
            else:
                # The run continues in the meantime.
                accepting = loop.create_task(self._accept_late(running, acceptance, accepted))
                write = await await_rest(work, awaited)
                running.note_end()
                if await accepting:
                    if self.event_logs.progress is not None:
                        await teller.settle()
                    await self.writer.write_down(running, write)
        except BaseException as error:
            answer_sender(accepted, StoreUnavailable())
            self._drop(running, error)
        finally:
            self._leave(running, teller)

    async def _write_first(
        self, running: RunningCall, acceptance: Acceptance, accepted: Accepted, write: Write
    ) -> None:
        """Write the first state of a call that has not simply ended."""
        if running.refusal is not None:
            answer_sender(accepted, running.refusal)
        elif running.end is not None:
            answer_sender(accepted, await self._store(running, acceptance, running.end))
        elif await self._accept_late(running, acceptance, accepted):
            await self.writer.write_down(running, write)

    async def _accept_late(self, running: RunningCall, acceptance: Acceptance, accepted: Accepted) -> bool:
        """Write a call that has already started; False if that fails, and its end must not be published."""
        stored = await self._store(running, acceptance)
        running.accepted = stored if isinstance(stored, AcceptedCall) else None
        answer_sender(accepted, stored)
        return running.accepted is not None

    async def _store(
        self, running: RunningCall, acceptance: Acceptance, end: CallCompletion | None = None
    ) -> AcceptedCall | StoreUnavailable | None:
        """Write a call that has already started, with its end if it has one.

        One that may not run twice is written as soon as that is possible.
        """
        write: Callable[[], Awaitable[AcceptedCall | None]] = (
            partial(self._calls.accept, running.record, acceptance)
            if end is None
            else partial(self._calls.record, running.record, acceptance, end)
        )
        try:
            return await write()
        except StoreUnavailable as error:
            if may_repeat(self._find(running.record.tool_call.name)):
                return error
        try:
            # What was written the first time, although it was not said, is found by its id.
            return await self.writer.insist(running.id, write) or AcceptedCall(running.record, acceptance)
        except StoreUnavailable as error:
            return error

    async def _carry_out_new(
        self,
        call: CallRecord,
        acceptance: Acceptance,
        accepted: Accepted,
        how: Submission,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        try:
            written = await self._calls.accept(call, acceptance)
        except BaseException as error:
            answer_sender(accepted, error if isinstance(error, Exception) else StoreUnavailable())
            return
        finally:
            call_id = call.id
            task = self._expected.pop(call_id)
        if written is None or not how.hears_end:
            answer_sender(accepted, written)
        if written is not None:
            running = RunningCall(call_id, call, 1, written, how.waits, task=task, sender=accepted)
            self._running[call_id] = running
            await self._carry_out(running, loop)

    def begin(self, claimed: ClaimedCall) -> None:
        """Run a call that this server has claimed."""
        record, loop = claimed.record, asyncio.get_running_loop()
        running = RunningCall(record.id, record, claimed.attempt, None, waits=False, describe=claimed.describe)
        self._running[running.id] = running
        running.task = CallTask(self._carry_out(running, loop), loop=loop, name=_NAME)

    def cancel(self, call_id: str, by: str = "") -> bool:
        """Cancel a call, also one that begins to wait for a person; False if it does not run here."""
        running = self._running.get(call_id)
        if running is None or running.task is None:
            return False
        running.is_unwanted, running.cancelled_by = True, by
        if not running.has_ended:
            cancel_from_outside(running.task)
        return True

    @property
    def is_closing(self) -> bool:
        """Whether no more calls are started."""
        return self.writer.is_closing

    def take_dropped(self, call_id: str) -> bool:
        """Return whether a call was started here and left without an end, and forget that."""
        was_dropped = call_id in self._dropped
        self._dropped.discard(call_id)
        return was_dropped

    async def close(self, patience: float) -> None:
        """Wait so many seconds for running calls, then cancel them; repeatable ones are queued again.

        What ignores that is left to the next server, like calls of one that has crashed.
        """
        self.writer.is_closing = True
        tasks = [*(one.task for one in self._running.values() if one.task is not None), *self._expected.values()]
        if tasks:
            await asyncio.wait(tasks, timeout=patience)
            for running in self._running.values():
                if running.task is not None and not running.has_ended:
                    cancel_from_outside(running.task)
            for accepting in self._expected.values():
                cancel_from_outside(accepting)
            await asyncio.wait(tasks, timeout=TO_CANCEL)

    async def _carry_out(self, running: RunningCall, loop: asyncio.AbstractEventLoop) -> None:
        teller = EventPublisher(self.event_logs, running.id, running.attempt, loop)
        try:
            work = self._run(running, teller.tell)
            try:
                awaited = work.send(None)
            except StopIteration as done:
                write = done.value
            else:
                answer_sender(running.sender, running.accepted)
                write = await await_rest(work, awaited)
            running.note_end()
            if self.event_logs.progress is not None:
                await teller.settle()
            await self.writer.write_down(running, write)
        except BaseException as error:
            answer_sender(running.sender, running.accepted)
            self._drop(running, error)
        finally:
            self._leave(running, teller)

    def _drop(self, running: RunningCall, error: BaseException) -> None:
        self._dropped.add(running.id)
        logger.warning("call %s was left before its end could be written down: %r", running.id, error)
        if not isinstance(error, Exception):
            raise error

    def _leave(self, running: RunningCall, teller: EventPublisher) -> None:
        teller.close()
        del self._running[running.id]
        running.task = running.invocation = None  # Each leads back to it.
        self.freed()

    async def _run(self, running: RunningCall, listener: EventListener) -> Write | None:
        """Run a call; return None if it has ended, otherwise the function that writes its new state."""
        request = running.record.to_request()
        request.listener, request.job = listener, running
        try:
            came = self._pipeline.begin(request)
            running.end = end_with(came if isinstance(came, ToolMessage) else await came)
        except ApprovalRequired as waiting:
            return partial(self.writer.hold, running, waiting.approval.id)
        except RequestError as error:
            if isinstance(error, CallRefused):  # Its executor has not started it.
                running.has_begun, running.invocation = False, None
            return await self._refuse(running, request, error)
        except asyncio.CancelledError:
            return self._break_off(running)
        except Exception:
            logger.exception("call %s failed", running.id)
            running.end = end_unknown(request.call, running.id)
        finally:
            if running.end is not None:
                running.end.trace_id = None if request.origin is None else request.origin.trace_id
                running.measure_end(running.end)
            decision = request.review.decision
            if running.end is not None and decision is not None:
                running.end.decision = self.writer.describe(running.record.tool_call, decision)
        return None

    async def _refuse(self, running: RunningCall, request: CallRequest, error: RequestError) -> Write | None:
        """Handle a refusal: a waiting client gets it, other calls are retried if there was no room.

        A call ends if its tool has started and may not run twice, or if a person would have to make room.
        """
        if is_end(error):
            running.end = end_with(end_by_problem(request, error).model_copy(update={"id": running.id}))
            return None
        is_unsure = isinstance(error, StoreUnavailable)  # Its question to a person may have been stored.
        must_end = running.has_begun and not may_repeat(self._find(request.call.name))
        if running.waits and not must_end:
            running.refusal = error
            forget = partial(self.writer.forget, running, error)
            return partial(self.writer.hold_if_asked, running, forget) if is_unsure else forget
        if must_end or not isinstance(error, Overloaded) or is_final(request, error):
            running.end = end_refused(running, request, error)
            return partial(self.writer.end_unless_asked, running) if is_unsure else None
        try:
            await self._pause(min(error.retry_after, 5))
        except asyncio.CancelledError:
            if running.is_unwanted:
                return self._break_off(running)
        return partial(self.writer.release, running)

    async def _pause(self, seconds: float) -> None:
        """Wait before a retry, and let another call run meanwhile."""
        self._pausing += 1
        self.freed()
        try:
            await asyncio.sleep(seconds)
        finally:
            self._pausing -= 1

    def _break_off(self, running: RunningCall) -> Write:
        """Choose the end of a call whose task is cancelled: by a client, or because the server stops."""
        call = running.record.tool_call
        if running.is_unwanted:
            running.end = end_cancelled(call, running.id)
            return partial(self.writer.end_unless_asked, running)
        if running.task is not None and running.task.is_broken_off:
            # Besides clients, only a shutdown cancels calls from outside.
            self.writer.is_closing = True
            if may_repeat(self._find(call.name)):
                return partial(self.writer.release, running)
        running.end = end_unknown(call, running.id)
        return partial(self.writer.end_unless_asked, running)


# Errors that keep a running tool from asking a person.
_IN_ASKING = (TooManyApprovals, StoreUnavailable)


def is_final(request: CallRequest, error: Overloaded) -> bool:
    """Return whether a call is not retried: its deadline has passed, or a person would have to make room first."""
    deadline = request.sender.deadline
    is_past = deadline is not None and deadline.is_past
    return is_past or isinstance(error, (TooManyApprovals, BudgetSpent))


def end_refused(running: RunningCall, request: CallRequest, error: RequestError) -> CallCompletion:
    """Make the completion of a call that will not be retried; whether its tool did something is unknown."""
    if running.has_begun and not isinstance(error, _IN_ASKING):
        return end_unanswered(request.call, running.id)
    return end_with(answer_for(request, error).model_copy(update={"id": running.id}))
