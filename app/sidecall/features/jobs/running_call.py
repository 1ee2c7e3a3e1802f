"""A call that this server runs, and its task."""

import asyncio
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from sidecall.features.jobs.call_record import CallRecord
from sidecall.features.jobs.records import CallCompletion, end_entry
from sidecall.features.jobs.stores import AcceptedCall
from sidecall.kernel.core.errors import RequestError
from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.origin import CALL
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


class RunningCall(Struct, eq=False):
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
