"""Let in as many calls as the server, a tool and a caller may run at once, and make a bounded number wait."""

import asyncio
import time
from collections import Counter, deque
from dataclasses import dataclass

from sidecall.core.context import Caller
from sidecall.core.invocation import Release
from sidecall.core.options import ExecutorName
from sidecall.core.overload import Overloaded, TooManyCalls
from sidecall.core.tool import CompiledTool
from sidecall.pipeline.quotas import Quotas, Rate

# Seconds after which a caller that was sent away may try again; an overload is over soon, or lasts.
_RETRY_AFTER = 1
_NO_QUEUE = "No call may wait here for another to end."


@dataclass(frozen=True, slots=True)
class Limits:
    """Say how many calls may run and wait; None stands for no limit.

    `queue_timeout` is in seconds, `rate` is that of one caller.
    """

    concurrency: int | None = None
    per_caller: int | None = None
    queue: int = 1000
    queue_timeout: float = 10.0
    rate: Rate | None = None


class _Gate:
    """Count what runs against a limit; the others wait in the order they came."""

    __slots__ = ("_most", "_waiting", "running")

    def __init__(self, most: int) -> None:
        self._most = most
        self._waiting: deque[asyncio.Future[None]] = deque()
        self.running = 0

    @property
    def is_free(self) -> bool:
        return self.running < self._most and not self._waiting

    async def wait(self) -> None:
        """Wait for a place, and take it."""
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except BaseException:
            if place.done() and not place.cancelled():
                self.leave()  # The place came at the very moment when nobody wanted it any more.
            elif place in self._waiting:  # Whoever left may have passed it over already.
                self._waiting.remove(place)
            raise

    def leave(self) -> None:
        """Give a place back, to whoever waits longest."""
        self.running -= 1
        while self._waiting and self.running < self._most:
            place = self._waiting.popleft()
            if not place.done():
                self.running += 1
                place.set_result(None)


Gates = tuple[_Gate, ...]


class Admission:
    """Admit calls to one server."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._server: Gates = () if limits.concurrency is None else (_Gate(limits.concurrency),)
        self._own: dict[str, _Gate] = {}
        self._callers: dict[tuple[str, str], int] = {}
        self.quotas = None if limits.rate is None else Quotas(limits.rate)
        self.running = 0
        self.waiting = 0
        self.abandoned: Counter[ExecutorName] = Counter()

    def gates(self, tool: CompiledTool) -> Gates:
        """List the gates that a tool's calls pass; its own first, lest those who wait there hold places of the server.

        Called once for each tool that is registered.
        """
        most = 1 if tool.options.sequential else tool.options.max_concurrency
        if most is None:
            return self._server
        own = self._own[tool.name] = _Gate(most)
        return own, *self._server

    def abandon(self, tool: CompiledTool) -> Release:
        """Count what runs on of a call that leaves, and take a place of its tool, but none of the server, for it.

        To be called before the call gives its own places back; what comes out is called once all of it has ended.
        """
        gate = self._own.get(tool.name)
        if gate is not None:
            gate.running += 1
        self.abandoned[tool.executor] += 1

        def release() -> None:
            self.abandoned[tool.executor] -= 1
            if gate is not None:
                gate.leave()

        return release

    async def enter(self, gates: Gates, caller: Caller, deadline: float | None = None) -> float:
        """Take a place for one call, and return the seconds it was waited for.

        It is not waited for beyond the deadline, a reading of `time.monotonic()`.

        Raises:
            TooManyCalls: The caller has too many calls running already.
            Overloaded: No more calls may wait, or the wait was too long.
        """
        self._count(caller)
        for gate in gates:
            if not gate.is_free:
                waited = await self._queue(gates, caller, deadline)
                break
        else:
            waited = 0.0
            for gate in gates:
                gate.running += 1
        self.running += 1
        return waited

    def turn_away(self, gates: Gates, caller: Caller) -> None:
        """Refuse now what `enter` would refuse at once.

        Raises:
            TooManyCalls: The caller has too many calls running already.
            Overloaded: No more calls may wait.
        """
        self._refuse_beyond_share(caller)
        if not all(gate.is_free for gate in gates):
            self._refuse_beyond_queue()

    def leave(self, gates: Gates, caller: Caller) -> None:
        """Give the place back."""
        self.running -= 1
        for gate in gates:
            gate.leave()
        self._uncount(caller)

    async def _queue(self, gates: Gates, caller: Caller, deadline: float | None) -> float:
        started = time.monotonic()
        patience = self._limits.queue_timeout
        if deadline is not None:
            patience = min(patience, max(0.0, deadline - started))
        try:
            self._refuse_beyond_queue()
            self.waiting += 1
            try:
                async with asyncio.timeout(patience):
                    await _pass_all(gates)
            finally:
                self.waiting -= 1
        except TimeoutError:
            self._uncount(caller)
            text = f"The call waited {round(patience, 3):g} seconds in vain."
            raise Overloaded(text, retry_after=_RETRY_AFTER) from None
        except BaseException:
            self._uncount(caller)
            raise
        return time.monotonic() - started

    def _refuse_beyond_queue(self) -> None:
        if self.waiting >= self._limits.queue:
            text = f"Calls that wait already: {self.waiting}." if self.waiting else _NO_QUEUE
            raise Overloaded(text, retry_after=_RETRY_AFTER)

    def _refuse_beyond_share(self, caller: Caller) -> int:
        running = self._callers.get(_key(caller), 0)
        if self._limits.per_caller is not None and running >= self._limits.per_caller:
            text = f"Calls of yours that run already, as many as one caller may: {running}."
            raise TooManyCalls(text, retry_after=_RETRY_AFTER)
        return running

    def _count(self, caller: Caller) -> None:
        if self._limits.per_caller is not None:
            self._callers[_key(caller)] = self._refuse_beyond_share(caller) + 1

    def _uncount(self, caller: Caller) -> None:
        if self._limits.per_caller is None:
            return
        left = self._callers[_key(caller)] - 1
        if left:
            self._callers[_key(caller)] = left
        else:
            del self._callers[_key(caller)]


def _key(caller: Caller) -> tuple[str, str]:
    return caller.tenant, caller.subject


async def _pass_all(gates: Gates) -> None:
    """Pass one gate after the other; leave those behind again when a later one is not reached."""
    held: list[_Gate] = []
    try:
        for gate in gates:
            if gate.is_free:
                gate.running += 1
            else:
                await gate.wait()
            held.append(gate)
    except BaseException:
        for gate in held:
            gate.leave()
        raise
