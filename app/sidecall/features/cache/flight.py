"""One run of a tool that answers several calls."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sidecall.features.cache.answers import KeptAnswer
from sidecall.kernel.concurrency.backpressure import Pause, Pauses
from sidecall.kernel.concurrency.coroutines import cancel_from_outside
from sidecall.kernel.core.context import EventListener
from sidecall.kernel.core.errors import ToolExecutionError
from sidecall.kernel.core.invocation import Invocation, new_invocation_id
from sidecall.kernel.core.messages import ToolMessage
from sidecall.kernel.pipeline.execution.deadline import make_timeout, seconds_left
from sidecall.kernel.pipeline.format import changes_state

# Runs the tool of an invocation, and makes its message.
_Run = Callable[[Invocation], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Landed:
    """What became of a run: an answer for all; or none, where the message is for the call that has begun it."""

    answer: KeptAnswer | None
    message: ToolMessage


class Flight:
    """Run a tool in a task of its own, so that it ends with none of the calls that wait for it.

    It has the deadline of the tool, whatever the clients of the calls allow, and is cancelled when nobody waits for it
    any more.
    """

    def __init__(
        self,
        invocation: Invocation,
        run: _Run,
        timeout: float | None,
        keep: Callable[[KeptAnswer], None],
        leave: Callable[["Flight"], None],
    ) -> None:
        """Begin to run what a call asks for.

        Args:
            invocation: The call.
            run: _Runs the tool.
            timeout: Seconds that a tool has which does not say so itself.
            keep: Is given an answer that may be given again.
            leave: Is called once nobody may join any more.
        """
        self._run = run
        self._keep = keep
        self._leave = leave
        self._listeners: tuple[tuple[EventListener, str], ...] = ()
        self._waiting = 0
        self._task = asyncio.create_task(self._fly(self._prepare(invocation, timeout)))
        self._task.add_done_callback(self._land)

    def _prepare(self, invocation: Invocation, timeout: float | None) -> Invocation:
        """Make an invocation of what the tool needs, without whatever ends with the first call."""
        request = replace(invocation.request, listener=self._tell, presence=None, deadline=None, holder=None)
        seconds = invocation.tool.options.timeout or timeout
        deadline = None if seconds is None else invocation.started + seconds
        alone = Invocation(
            new_invocation_id(), request, invocation.tool, invocation.started, deadline, invocation.services
        )
        alone.args, alone.injected, alone.values = invocation.args, invocation.injected, invocation.values
        alone.own_secrets, alone.mask = invocation.own_secrets, invocation.mask
        return alone

    async def _fly(self, invocation: Invocation) -> Landed:
        try:
            await self._run(invocation)
            message = invocation.message
            assert message is not None
            # What a command asks for names the call that it answers.
            if changes_state(message):
                return Landed(None, message)
            answer = await KeptAnswer.of(message, invocation.notes, invocation.attempts)
            if answer.is_success:
                self._keep(answer)
            return Landed(answer, message)
        except BaseException:
            if invocation.share is not None:
                invocation.share.settle(0)
            raise
        finally:
            if invocation.share is not None:
                invocation.close_share()

    def _land(self, task: asyncio.Task[Landed]) -> None:
        self._leave(self)
        if not task.cancelled():
            task.exception()  # Looked at, since perhaps nobody waits for it any more.

    def _tell(self, kind: str, _call_id: str, said: Mapping[str, Any]) -> Pause | None:
        told = [listener(kind, call_id, said) for listener, call_id in self._listeners]
        pauses = [pause for pause in told if pause is not None]
        return Pauses(pauses) if pauses else None

    async def wait(self, invocation: Invocation) -> Landed:
        """Wait for the end together with others, until the client of this call does not wait any longer.

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
            if not self._waiting:  # Its error's traceback holds the frame in which this flight stands.
                del self._task


def _take(task: asyncio.Future[Landed], invocation: Invocation) -> Landed:
    try:
        return task.result()  # Which raises with the traceback that the run has left, whoever else has raised it.
    except (ToolExecutionError, asyncio.CancelledError) as error:  # It names the call.
        raise ToolExecutionError(invocation.tool.name, invocation.call.id) from error.__cause__
    finally:
        del task
