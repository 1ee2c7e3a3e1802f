"""A call that this server runs, and its end."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from sidecall.features.calls.accepted import AcceptedCall
from sidecall.features.calls.entry import CallCompletion, CallEntry, end_entry
from sidecall.features.jobs.call_task import CallTask
from sidecall.kernel.core.errors import RequestError
from sidecall.kernel.core.record import CallRecord

# A call as soon as it is durable; None where its key belongs to an earlier one.
Accepted = asyncio.Future[AcceptedCall | None]


@dataclass(slots=True)
class RunningCall:
    """A call that this server runs.

    `attempt` has to be named at its end. `waits` is true when a client waits who is refused when there is no room;
    other calls are queued. `has_begun` is true when its tool has started. `accepted` is None until it is stored, or
    when it was queued; then `describe` returns its entry. `has_ended` is true when only the result has to be written:
    `end`, or `refusal` if it did not begin. `sender` gets its end, or the news that it waits.
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
    has_ended: bool = False
    end: CallCompletion | None = None
    refusal: RequestError | None = None
    sender: Accepted | None = None

    def note_begin(self) -> None:
        """Note that its tool has begun, so that it may have had effects."""
        self.has_begun = True

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
