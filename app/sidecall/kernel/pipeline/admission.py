"""Limit how many calls the server, a tool and a caller run at once; a bounded number may queue."""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable
from typing import Protocol

from msgspec import Struct

from sidecall.kernel.concurrency.fair_queue import CallerKey, Semaphore, key_of
from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.errors import write_seconds
from sidecall.kernel.core.options import ExecutorName
from sidecall.kernel.core.overload import Overloaded, TooManyCalls
from sidecall.kernel.core.quota import Quota, Rate
from sidecall.kernel.core.sender import Deadline
from sidecall.kernel.core.services import Release
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.executors.base import Occupancy

# Seconds after which a caller that was sent away may try again; an overload is over soon, or lasts.
_RETRY_AFTER = 1
_NO_QUEUE = "No call may wait here for another to end."


class Limits(Struct, frozen=True):
    """The limits on running and queued calls; None means no limit. `queue_timeout` is in seconds."""

    concurrency: int | None = None
    per_caller: int | None = None
    queue: int = 1000
    queue_timeout: float = 10.0


class Quotas(Protocol):
    """Counts the calls of each caller; `rate` is that of all calls, and tools may have their own."""

    rate: Rate | None

    def take(self, caller: Caller, tool: CompiledTool | None = None) -> Awaitable[None] | None:
        """Count one call, among all or among those of a tool with a rate; the result has to be awaited.

        Raises:
            QuotaExceeded: The caller has none left; then nothing is counted.
        """

    def left(self, caller: Caller, tool: CompiledTool | None = None) -> tuple[Quota, ...]:
        """Return a caller's remaining quota, in all and for a tool, if it has called recently."""


Semaphores = tuple[Semaphore, ...]


class Admission:
    """Admit calls to one server."""

    def __init__(self, limits: Limits, quotas: Quotas | None = None) -> None:
        """Admit calls within limits; without `quotas` they are not counted."""
        self._limits = limits
        self._most_of_caller = limits.per_caller
        self._server: Semaphores = () if limits.concurrency is None else (Semaphore(limits.concurrency),)
        self._own: dict[str, Semaphore] = {}
        self._callers: dict[tuple[str, str], int] = {}
        self.quotas = quotas
        self.running = 0
        self.waiting = 0
        self.abandoned: Counter[ExecutorName] = Counter()
        # The same by tool.
        self.abandoned_of: Counter[str] = Counter()

    @property
    def occupancy(self) -> Occupancy:
        """How many calls run, the limit, and how many wait."""
        return Occupancy(self._limits.concurrency, self.running, self.waiting)

    @property
    def most_waiting(self) -> int:
        """The maximum number of waiting calls."""
        return self._limits.queue

    def semaphores(self, tool: CompiledTool) -> Semaphores:
        """List the semaphores of a tool's calls, its own first: calls waiting for the tool hold no slot of the server.

        Called once per registered tool. A reloaded tool shares its slots with running calls from before.
        """
        most = 1 if tool.options.sequential else tool.options.max_concurrency
        if most is None:
            return self._server
        own = self._own.setdefault(tool.name, Semaphore(most))
        own.most = most
        return own, *self._server

    def abandon(self, tool: CompiledTool) -> Release:
        """Keep a slot of the tool, but none of the server, for what still runs of an answered call.

        Call this before the call returns its own slots; call the returned function once everything has ended.
        """
        semaphore = self._own.get(tool.name)
        if semaphore is not None:
            semaphore.running += 1
        self.abandoned[tool.executor] += 1
        self.abandoned_of[tool.name] += 1

        def release() -> None:
            self.abandoned[tool.executor] -= 1
            self.abandoned_of[tool.name] -= 1
            if semaphore is not None:
                semaphore.leave()

        return release

    def enter_at_once(self, semaphores: Semaphores, caller: Caller) -> bool:
        """Take slots for one call without waiting, and return whether they were free.

        Raises:
            TooManyCalls: The caller has too many calls running already.
        """
        for semaphore in semaphores:
            if semaphore.running >= semaphore.most or semaphore.waiting.callers:
                return False
        if self._most_of_caller is not None:
            self._count(caller, self._most_of_caller)
        for semaphore in semaphores:
            semaphore.running += 1
        self.running += 1
        return True

    async def enter(self, semaphores: Semaphores, caller: Caller, deadline: Deadline | None = None) -> float:
        """Take slots for one call, and return the seconds it waited, at most until the deadline.

        Raises:
            TooManyCalls: The caller has too many calls running already.
            Overloaded: No more calls may wait, or the wait was too long.
        """
        if self.enter_at_once(semaphores, caller):
            return 0.0
        if self._most_of_caller is not None:
            self._count(caller, self._most_of_caller)
        try:
            waited = await self._queue(semaphores, key_of(caller), deadline)
        except BaseException:
            self._uncount(caller)
            raise
        self.running += 1
        return waited

    def leave(self, semaphores: Semaphores, caller: Caller) -> None:
        """Return the slots of one call."""
        self.running -= 1
        for semaphore in semaphores:
            if semaphore.waiting.callers:
                semaphore.leave()
            else:
                semaphore.running -= 1
        if self._callers:  # Empty where callers have no share.
            self._uncount(caller)

    async def _queue(self, semaphores: Semaphores, caller: CallerKey, deadline: Deadline | None) -> float:
        started = time.monotonic()
        patience = allowed = self._limits.queue_timeout
        if deadline is not None and deadline.moment - started < patience:
            patience, allowed = max(0.0, deadline.moment - started), deadline.seconds
        if self.waiting >= self._limits.queue:
            text = f"Calls that wait already: {self.waiting}." if self.waiting else _NO_QUEUE
            raise Overloaded(text, retry_after=_RETRY_AFTER)
        self.waiting += 1
        try:
            async with asyncio.timeout(patience):
                await _pass_all(semaphores, caller)
        except TimeoutError:
            text = f"The call waited {write_seconds(allowed)} in vain."
            raise Overloaded(text, retry_after=_RETRY_AFTER) from None
        finally:
            self.waiting -= 1
        return time.monotonic() - started

    def _count(self, caller: Caller, most: int) -> None:
        running = self._callers.get(key_of(caller), 0)
        if running >= most:
            text = f"Calls of yours that run already, as many as one caller may: {running}."
            raise TooManyCalls(text, retry_after=_RETRY_AFTER)
        self._callers[key_of(caller)] = running + 1

    def _uncount(self, caller: Caller) -> None:
        left = self._callers.get(key_of(caller), 0) - 1
        if left > 0:
            self._callers[key_of(caller)] = left
        else:
            self._callers.pop(key_of(caller), None)


async def _pass_all(semaphores: Semaphores, caller: CallerKey) -> None:
    """Take the slots one after the other; return them all if a later one is not available."""
    held: list[Semaphore] = []
    try:
        for semaphore in semaphores:
            await semaphore.enter(caller)
            held.append(semaphore)
    except BaseException:
        for semaphore in held:
            semaphore.leave()
        raise
