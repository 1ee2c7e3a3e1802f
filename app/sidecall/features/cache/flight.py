"""One run of a tool, shared by several calls."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sidecall.features.cache.answers import KeptAnswer
from sidecall.kernel.concurrency.backpressure import Pause, Pauses
from sidecall.kernel.concurrency.coroutines import cancel_from_outside
from sidecall.kernel.core.context import EventListener
from sidecall.kernel.core.errors import ToolExecutionError
from sidecall.kernel.core.invocation import Invocation, new_invocation_id, open_cost
from sidecall.kernel.core.messages import ToolMessage
from sidecall.kernel.pipeline.execution.deadline import make_timeout, seconds_left
from sidecall.kernel.pipeline.format import changes_state

# Runs the tool of an invocation, and makes its message.
_Run = Callable[[Invocation], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class FlightResult:
    """The result of a shared run: an answer for all, or none where the message belongs to the first call only."""

    answer: KeptAnswer | None
    message: ToolMessage


class Flight:
    """Run a tool in its own task, so that it outlives each of the calls that wait for it.

    The tool's deadline applies, not those of the calls' clients. The run is cancelled when no call waits any more.
    """

    def __init__(
        self,
        invocation: Invocation,
        run: _Run,
        timeout: float | None,
        keep: Callable[[KeptAnswer], None],
        leave: Callable[["Flight"], None],
    ) -> None:
        """Start the run of a call.

        Args:
            invocation: The call.
            run: Runs the tool.
            timeout: Seconds for a tool that sets no timeout of its own.
            keep: Called with an answer that may be reused.
            leave: Called when no more calls may join.
        """
        self._run = run
        self._keep = keep
        self._leave = leave
        self._listeners: tuple[tuple[EventListener, str], ...] = ()
        self._waiting = 0
        self._task = asyncio.create_task(self._fly(self._prepare(invocation, timeout)))
        self._task.add_done_callback(self._land)

    def _prepare(self, invocation: Invocation, timeout: float | None) -> Invocation:
        """Copy from an invocation what the tool needs, without parts that end with the first call."""
        request = replace(invocation.request, listener=self._publish, presence=None, deadline=None, holder=None)
        seconds = invocation.tool.options.timeout or timeout
        deadline = None if seconds is None else invocation.started + seconds
        alone = Invocation(
            new_invocation_id(), request, invocation.tool, invocation.started, deadline, invocation.services
        )
        alone.args, alone.injected, alone.values = invocation.args, invocation.injected, invocation.values
        alone.own_secrets, alone.mask = invocation.own_secrets, invocation.mask
        alone.cost = open_cost(invocation)  # The call that began the run pays for it.
        return alone

    async def _fly(self, invocation: Invocation) -> FlightResult:
        try:
            await self._run(invocation)
            message = invocation.message
            assert message is not None
            # A command's result names the call that it answers.
            if changes_state(message):
                return FlightResult(None, message)
            answer = await KeptAnswer.of(message, invocation.notes, invocation.attempts)
            if answer.is_success:
                self._keep(answer)
            return FlightResult(answer, message)
        except BaseException:
            if invocation.share is not None:
                invocation.share.settle(0)
            raise
        finally:
            if invocation.share is not None:
                invocation.close_share()

    def _land(self, task: asyncio.Task[FlightResult]) -> None:
        self._leave(self)
        if not task.cancelled():
            task.exception()  # Retrieve the exception, since perhaps no call waits any more.

    def _publish(self, kind: str, _call_id: str, said: Mapping[str, Any]) -> Pause | None:
        told = [listener(kind, call_id, said) for listener, call_id in self._listeners]
        pauses = [pause for pause in told if pause is not None]
        return Pauses(pauses) if pauses else None

    async def wait(self, invocation: Invocation) -> FlightResult:
        """Wait for the shared run, up to the deadline of this call's client.

        Raises:
            ToolTimeout: The time is up, for the tool or for this client.
            ToolFailure: The tool has failed.
        """
        listener = invocation.request.listener
        heard = () if listener is None else ((listener, invocation.call.id),)
        self._listeners += heard
        self._waiting += 1
        try:
            # The tool's own deadline ends the run itself.
            patience = None if invocation.request.deadline is None else seconds_left(invocation)
            await asyncio.wait((self._task,), timeout=patience)
        finally:
            self._waiting -= 1
            self._listeners = tuple(it for it in self._listeners if it not in heard)
            if not self._waiting and not self._task.done():
                self._leave(self)
                cancel_from_outside(self._task)
        if not self._task.done():
            raise make_timeout(invocation)
        try:
            return _take(self._task, invocation)
        finally:
            if not self._waiting:  # The traceback of its error refers to the frame that holds this flight.
                del self._task


def _take(task: asyncio.Future[FlightResult], invocation: Invocation) -> FlightResult:
    try:
        return task.result()  # Re-raises with the traceback of the run, even if others have raised it before.
    except (ToolExecutionError, asyncio.CancelledError) as error:  # It names the call.
        raise ToolExecutionError(invocation.tool.name, invocation.call.id) from error.__cause__
    finally:
        del task
