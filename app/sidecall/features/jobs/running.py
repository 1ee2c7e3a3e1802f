"""A call that this server runs, and how it has ended."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from sidecall.features.calls.accepted import AcceptedCall
from sidecall.features.calls.entry import CallCompletion, CallEntry, end_entry
from sidecall.features.jobs.call_task import CallTask
from sidecall.kernel.core.errors import RequestError
from sidecall.kernel.core.record import CallRecord

# A call as soon as it is durable; None where one with its key is remembered already.
Accepted = asyncio.Future[AcceptedCall | None]


@dataclass(slots=True)
class RunningCall:
    """A call that this server runs.

    `attempt` is what its end has to name. `waits` says that a client waits for it who is told when there is no room;
    others wait until there is. `has_begun` says that its tool has. `accepted` is None until it is written down, or
    where it was queued; then `describe` says what is known of it. `has_ended` says that only what became of it has to
    be written down: `end`, where it has one, or `refusal`, where it did not begin. `sender` is told of its end, or as
    soon as it waits for something.
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
        """Note that only what became of it has to be written down."""
        self.has_ended = True
        if self.task is not None:
            self.task.is_over = True

    def describe_end(self, end: CallCompletion, at: float) -> CallEntry | None:
        """Return what is known of it once it has ended then, in seconds since 1970."""
        if self.accepted is not None:
            return self.accepted.entry
        return None if self.describe is None else end_entry(self.describe(), end, at)


def answer_sender(accepted: Accepted | None, outcome: AcceptedCall | Exception | None) -> None:
    """Let whoever has sent a call know what became of that, unless they are gone or do."""
    if accepted is None or accepted.done():
        return
    if isinstance(outcome, Exception):
        accepted.set_exception(outcome)
    else:
        accepted.set_result(outcome)
