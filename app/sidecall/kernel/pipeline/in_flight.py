"""The calls that run in this process and wait for something, so that they can be listed and cancelled."""

import asyncio
from dataclasses import dataclass

from sidecall.kernel.concurrency.coroutines import cancel_from_outside
from sidecall.kernel.core.errors import ToolFailure
from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.messages import ToolMessage


@dataclass(slots=True)
class RunningCall:
    """A call that waits in its task.

    `failure` is how it fails if it is cancelled; `is_ending` says that it fails already. `ended` has its answer in the
    end, None for a call that ends without one.
    """

    invocation: Invocation
    task: asyncio.Task[object] | None
    failure: ToolFailure | None = None
    is_ending: bool = False
    ended: asyncio.Future[ToolMessage | None] | None = None

    def fail(self, error: BaseException) -> None:
        """Have the call fail with an error; one that was cancelled fails with the reason, and its task goes on."""
        self.is_ending = True
        if self.failure is not None and isinstance(error, asyncio.CancelledError):
            self._go_on()
            error = self.failure
        self.invocation.fail(error)

    def _go_on(self) -> None:
        """Take the cancellation back from the task, which has a client to answer."""
        if self.task is not None:
            self.task.uncancel()
            self.task = None

    def end(self) -> None:
        """Tell who has cancelled the call that it has ended."""
        if self.ended is not None:
            self._go_on()  # Its tool has gone on in spite of it.
            self.ended.set_result(self.invocation.message)


class CallsInFlight:
    """Calls that run for their clients; remembered ones have an entry of their own, and are left out.

    A call that never waits is over before anybody could ask for it, so only those that do are noted.
    """

    def __init__(self) -> None:
        """Start with none."""
        self._running: dict[str, RunningCall] = {}

    def enter(self, invocation: Invocation) -> RunningCall:
        """Note a call, in its task."""
        running = RunningCall(invocation, asyncio.current_task())
        if not invocation.request.is_remembered:
            self._running[invocation.id] = running
        return running

    def leave(self, running: RunningCall) -> None:
        """Note that a call has ended."""
        if self._running.get(running.invocation.id) is running:
            del self._running[running.invocation.id]
        running.end()

    def list(self) -> list[Invocation]:
        """Return the calls, the oldest first."""
        return [running.invocation for running in self._running.values()]

    def get(self, call_id: str) -> Invocation | None:
        """Return a call; None if it does not run here."""
        running = self._running.get(call_id)
        return None if running is None else running.invocation

    def cancel(self, call_id: str, failure: ToolFailure) -> asyncio.Future[ToolMessage | None] | None:
        """Cancel a call: its client gets this failure; return what becomes its answer, None if it ends already."""
        running = self._running.get(call_id)
        if running is None or running.task is None or (running.is_ending and running.ended is None):
            return None
        if running.ended is None:
            running.failure, running.ended = failure, running.task.get_loop().create_future()
            cancel_from_outside(running.task)
        return running.ended
