"""Write completions of calls to the ledger, with retries."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from sidecall.features.jobs.records import CallCompletion, CallDecision, end_entry
from sidecall.features.jobs.stores import AcceptedCall, Calls
from sidecall.features.jobs.suspended import CompletionWaiters, SuspendedCalls
from sidecall.kernel.core.errors import RequestError
from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.messages import ToolCall
from sidecall.kernel.core.origin import CALL
from sidecall.kernel.core.overload import StoreUnavailable
from sidecall.kernel.core.record import CallRecord
from sidecall.kernel.ports.approvals.rules import Decided
from sidecall.kernel.ports.call_entry import CallEntry


class CallTask(asyncio.Task[None]):
    """A task that knows why it is cancelled: by the server or a client, or by the tool's own timers and tasks.

    `is_broken_off` is true when the tool did not cancel it. Once `is_over` is set, only the result remains to be
    written, and what the tool has left running cannot cancel that.
    """

    is_broken_off = False
    is_over = False

    def cancel(self, msg: Any | None = None) -> bool:
        """Cancel the task, and note by whom; code that a tool has started is recognized by its call."""
        if CALL.get() is None:
            self.is_broken_off = True
        elif self.is_over:
            return False
        return super().cancel(msg)


# A call as soon as it is durable; None where its key belongs to an earlier one.
Accepted = asyncio.Future[AcceptedCall | None]


@dataclass(slots=True)
class RunningCall:
    """A call that this server runs.

    `attempt` has to be named at its end. `waits` is true when a client waits who is refused when there is no room;
    other calls are queued. `has_begun` is true when its tool has started; `invocation` is the call then. `accepted` is
    None until it is stored, or when it was queued; then `describe` returns its entry. `has_ended` is true when only the
    result has to be written: `end`, or `refusal` if it did not begin. `sender` gets its end, or the news that it waits.
    """

    id: str
    record: CallRecord
    attempt: int
    accepted: AcceptedCall | None
    waits: bool
    describe: Callable[[], CallEntry] | None = None
    task: CallTask | None = None
    is_unwanted: bool = False
    cancelled_by: str = ""
    has_begun: bool = False
    invocation: Invocation | None = None
    has_ended: bool = False
    end: CallCompletion | None = None
    refusal: RequestError | None = None
    sender: Accepted | None = None

    def note_begin(self, invocation: Invocation) -> None:
        """Note that its tool has begun, so that it may have had effects."""
        self.has_begun, self.invocation = True, invocation

    def measure_end(self, end: CallCompletion) -> None:
        """Add to its end how long the call waited for its turn, and how often its tool was run."""
        if self.invocation is not None:
            end.waited, end.attempts = self.invocation.waited, self.invocation.attempts

    def note_end(self) -> None:
        """Note that only its result remains to be written."""
        self.has_ended = True
        if self.task is not None:
            self.task.is_over = True

    def describe_end(self, end: CallCompletion, at: float) -> CallEntry | None:
        """Return the entry of the call, ended at this time, in seconds since 1970."""
        if self.accepted is not None:
            return self.accepted.entry
        return None if self.describe is None else end_entry(self.describe(), end, at)


def answer_sender(accepted: Accepted | None, outcome: AcceptedCall | Exception | None) -> None:
    """Send the result to the client, unless it has gone or has got it."""
    if accepted is None or accepted.done():
        return
    if isinstance(outcome, Exception):
        accepted.set_exception(outcome)
    else:
        accepted.set_result(outcome)


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
