"""The workers that a server knows of, by what they say of themselves."""

import asyncio
import logging
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sidecall.kernel.concurrency.coroutines import settle
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.schema.forms.definitions import hash_definition

logger = logging.getLogger("sidecall.fleet")

# Questions that a worker leaves unanswered, one a second, after which it counts as gone.
_MISSES = 3
# And after which one that has lost a call is given others again, though it has answered none since.
_DOUBTS = 30
# By how many the free slots of a worker change that has none.
ALL_TAKEN = -1_000_000


@dataclass(slots=True)
class Worker:
    """A worker, as it was last heard of."""

    name: str
    queue: str
    pool: str
    slots: int
    running: int
    is_draining: bool
    # Slots in which it can begin a call at once: those that it tells of, less those that were taken here since.
    free: int = 0
    misses: int = 0
    # For how many questions more it counts as one that takes calls and does not answer.
    doubts: int = 0

    @classmethod
    def read(cls, said: Mapping[str, Any]) -> "Worker":
        """Read what a worker says of itself."""
        slots = int(said["slots"])
        return cls(
            str(said["name"]),
            str(said["queue"]),
            str(said["pool"]),
            slots,
            int(said["running"]),
            bool(said["draining"]),
            min(int(said.get("free", 0)), slots),
        )

    def change_free(self, by: int) -> None:
        """Note that so many of its slots are free or taken; `ALL_TAKEN` until it tells of others."""
        self.free = min(max(0, self.free + by), self.slots)

    def note_answer(self) -> None:
        """Note that it has answered a call, and so has a slot free."""
        self.doubts = 0
        self.change_free(1)

    def doubt(self) -> None:
        """Note that it has not answered a call: for a while, or until it answers one, it has to claim them."""
        self.doubts = _DOUBTS


@dataclass(slots=True)
class Roster:
    """All workers, and which tools the pools of them have; `changed` is called when others take calls.

    Workers of one queue with the same tools, by name and schema, are a pool: each of them can run each of its calls.
    """

    changed: Callable[[], None]
    workers: dict[str, Worker] = field(default_factory=dict)
    _pools: dict[str, Mapping[str, str]] = field(default_factory=dict)
    _hashes: dict[int, tuple[CompiledTool, str]] = field(default_factory=dict)
    # The workers that fit a tool, by its id.
    _fitting: dict[int, list[str]] = field(default_factory=dict)
    _waiting: set[asyncio.Future[None]] = field(default_factory=set)

    def note(self, sender: str, said: Mapping[str, Any]) -> bool:
        """Note what a worker says; return whether it has to be asked for its tools."""
        worker = Worker.read(said)
        before = self.workers.get(sender)
        self.workers[sender] = worker
        worker.doubts = 0 if before is None else before.doubts
        if before is None or before.is_draining != worker.is_draining:
            state = "leaves" if worker.is_draining else f"has joined, with {worker.slots} slots"
            logger.info("the worker %s of the queue %s %s", worker.name, worker.queue, state)
            self._wake()
        return worker.pool not in self._pools

    def note_tools(self, pool: str, tools: Mapping[str, str]) -> None:
        """Note which tools a pool has, with the hashes of their schemas."""
        self._pools[pool] = dict(tools)
        self._wake()

    def miss(self) -> list[Worker]:
        """Note that workers were asked again; return those that count as gone from now on."""
        gone = []
        for sender, worker in list(self.workers.items()):
            worker.misses += 1
            worker.doubts = max(0, worker.doubts - 1)
            if worker.misses > _MISSES:
                gone.append(self.workers.pop(sender))
        if gone:
            self._note_gone()
        return gone

    def remove(self, sender: str) -> None:
        """Note that a worker has ended."""
        if self.workers.pop(sender, None) is not None:
            self._note_gone()

    def _note_gone(self) -> None:
        live = {worker.pool for worker in self.workers.values()}
        self._pools = {pool: tools for pool, tools in self._pools.items() if pool in live}
        self._fitting.clear()
        self.changed()

    def forgive(self) -> None:
        """Begin to count anew: nobody could be heard."""
        for worker in self.workers.values():
            worker.misses = 0

    def find_pool(self, tool: CompiledTool) -> str | None:
        """Return a pool whose workers have a tool as it is here, the larger the likelier; None if there is none.

        One of workers that answer comes first.
        """
        fitting = self._list_fitting(tool)
        fitting = [it for it in fitting if not self.workers[it].doubts] or fitting
        return self.workers[random.choice(fitting)].pool if fitting else None  # noqa: S311  to spread calls

    def take_free(self, tool: CompiledTool) -> str | None:
        """Take a slot of the worker that has most free ones and a tool as it is here; None if none has any.

        One that has left a question unanswered has none: it may be gone, and a call that it was given is in doubt.
        """
        best, most = None, 0
        for sender in self._list_fitting(tool):
            worker = self.workers[sender]
            if worker.free > most and worker.misses <= 1 and not worker.doubts:
                best, most = sender, worker.free
        if best is not None:
            self.workers[best].free -= 1
        return best

    def find(self, sender: str | None) -> Worker:
        """Return a worker; for one that is gone, or not known yet, one that has no slots."""
        return self.workers.get(sender or "") or Worker((sender or "")[:8], "", "", 0, 0, is_draining=True)

    def list_served(self) -> set[tuple[str, str]]:
        """List the queues and pools that have a worker that takes calls."""
        return {(it.queue, it.pool) for it in self.workers.values() if not it.is_draining}

    async def wait(self, seconds: float) -> None:
        """Wait until something changes, or for so many seconds."""
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        timer = loop.call_later(seconds, settle, future)
        self._waiting.add(future)
        try:
            await future
        finally:
            timer.cancel()
            self._waiting.discard(future)

    def explain_wait(self, tool: CompiledTool, seconds: float, names: Sequence[str]) -> str:
        """Say why a call has found no worker in so many seconds, and where it had begun."""
        queue = tool.options.queue or ""
        if self.find_pool(tool) is not None:
            gone = f" It had begun on {', '.join(names)}, which ended." if names else ""
            return f"All workers of the queue {queue!r} are busy: none took the call within {seconds:g} s.{gone}"
        others = {it.queue for it in self.workers.values()}
        why = "has this tool as it is here" if queue in others else "is there"
        return f"{tool.name} runs on workers of the queue {queue!r}, and none {why} (waited {seconds:g} s)."

    def _list_fitting(self, tool: CompiledTool) -> list[str]:
        fitting = self._fitting.get(id(tool))
        if fitting is None:
            fitting = self._fitting[id(tool)] = list(self._find_fitting(tool))
        return fitting

    def _find_fitting(self, tool: CompiledTool) -> Iterator[str]:
        known = self._hashes.get(id(tool))
        if known is None:  # The tool is kept with it, so that no other can take its id.
            known = self._hashes[id(tool)] = (tool, hash_definition(tool))
        for sender, worker in self.workers.items():
            has_tool = self._pools.get(worker.pool, {}).get(tool.name) == known[1]
            if has_tool and worker.queue == tool.options.queue and not worker.is_draining:
                yield sender

    def forget(self) -> None:
        """Forget the hashes of tools that may not be served any more."""
        self._hashes.clear()
        self._fitting.clear()

    def _wake(self) -> None:
        self._fitting.clear()
        self.changed()
        for future in self._waiting:
            settle(future)
