"""Cached answers in this process's memory."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from pydantic_core import from_json, to_json

from sidecall.kernel.concurrency.backpressure import Pause, Pauses
from sidecall.kernel.concurrency.coroutines import cancel_from_outside
from sidecall.kernel.concurrency.pools import RESULTS
from sidecall.kernel.core.context import EventListener
from sidecall.kernel.core.errors import ToolExecutionError
from sidecall.kernel.core.invocation import Invocation, new_invocation_id, open_cost
from sidecall.kernel.core.messages import ABSENT, ToolMessage, find_artifact, find_value, keep_value
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.json_data.large_values import is_bulky
from sidecall.kernel.json_data.to_json import write_in_pieces
from sidecall.kernel.pipeline.execution.eager_start import make_timeout, seconds_left
from sidecall.kernel.pipeline.format import changes_state, make_message

# Bytes of an answer besides its text.
_BESIDE = 512
# Bytes of JSON from which reading and writing leave the event loop.
_LARGE = 64 * 1024


class Caching(Struct, frozen=True):
    """Bounds of the answer cache, and the default age in seconds of tools that set none."""

    most_bytes: int = 16 * 1024 * 1024
    most_entries: int = 10_000
    timeout: float | None = None


class KeptAnswer(Struct, frozen=True):
    """A tool's answer as JSON, without the parts that belong to one call; `made_at` is on the monotonic clock."""

    body: bytes
    made_at: float
    is_success: bool
    attempts: int

    @classmethod
    async def of(cls, message: ToolMessage, notes: Sequence[str], attempts: int) -> "KeptAnswer":
        """Serialize a message."""
        value = find_value(message)
        said = [message.content, find_artifact(message), message.additional_kwargs, message.status, notes]
        said += [] if value is ABSENT else [value]
        body = await RESULTS.run(write_in_pieces, said) if is_bulky(said) else to_json(said)
        return cls(body, time.monotonic(), message.status == "success", attempts)

    async def give(self, invocation: Invocation, told: dict[str, Any]) -> None:
        """Answer a call with it, under the call's own ids; `told` is added to the metadata."""
        body = self.body
        said = await RESULTS.run(from_json, body) if len(body) > _LARGE else from_json(body)
        content, artifact, additional, status, notes, *value = said
        invocation.remarks.notes = notes
        fields = {"content": content, "artifact": artifact, "additional_kwargs": additional, "status": status}
        invocation.message = make_message(invocation, told, fields)
        keep_value(invocation.message, value[0] if value else ABSENT)


class KeptAnswers:
    """Keep answers until they expire, up to a number and a size; the least recently used are dropped."""

    def __init__(self, most_bytes: int, most: int) -> None:
        self._most_bytes = most_bytes
        self._most = most
        self._kept: OrderedDict[bytes, tuple[CompiledTool, float, KeptAnswer]] = OrderedDict()
        self.size = 0

    def __len__(self) -> int:
        return len(self._kept)

    def find(self, key: bytes, tool: CompiledTool, max_age: int | None) -> tuple[KeptAnswer, float] | None:
        """Find an answer and its age in seconds; answers of a tool that was reloaded since are not found."""
        found = self._kept.get(key)
        if found is None:
            return None
        made_by, expires_at, answer = found
        now = time.monotonic()
        if expires_at <= now or made_by is not tool:
            self._drop(key)
            return None
        age = now - answer.made_at
        if max_age is not None and age > max_age:
            return None
        self._kept.move_to_end(key)
        return answer, age

    def keep(self, key: bytes, tool: CompiledTool, ttl: float, answer: KeptAnswer) -> None:
        """Store an answer, replacing an older one; an answer larger than the whole cache is not stored."""
        self._drop(key)
        size = len(answer.body) + _BESIDE
        if size > self._most_bytes or self._most == 0:
            return
        while self._kept and (self.size + size > self._most_bytes or len(self._kept) >= self._most):
            self._drop(next(iter(self._kept)))
        self._kept[key] = (tool, answer.made_at + ttl, answer)
        self.size += size

    def _drop(self, key: bytes) -> None:
        found = self._kept.pop(key, None)
        if found is not None:
            self.size -= len(found[2].body) + _BESIDE


# Runs the tool of an invocation, and makes its message.
_Run = Callable[[Invocation], Awaitable[None]]


class FlightResult(Struct, frozen=True):
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
        request = invocation.request.copy_sent(presence=None, deadline=None, holder=None)
        request.listener = self._publish
        seconds = invocation.tool.options.timeout or timeout
        deadline = None if seconds is None else invocation.started + seconds
        alone = Invocation(
            new_invocation_id(), request, invocation.tool, invocation.started, deadline, invocation.services
        )
        alone.args, alone.values, alone.secrets = invocation.args, invocation.values, invocation.secrets
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
            answer = await KeptAnswer.of(message, invocation.remarks.notes, invocation.attempts)
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
            patience = None if invocation.request.sender.deadline is None else seconds_left(invocation)
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
