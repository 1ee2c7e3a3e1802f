"""The workers that a server knows of, by what they say of themselves."""

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.schema.forms.definitions import hash_definition

# Questions that a worker leaves unanswered, one a second, after which it counts as gone.
_MISSES = 3


@dataclass(slots=True)
class Worker:
    """A worker, as it was last heard of."""

    name: str
    queue: str
    pool: str
    slots: int
    running: int
    is_draining: bool
    misses: int = 0

    @classmethod
    def read(cls, said: Mapping[str, Any]) -> "Worker":
        """Read what a worker says of itself."""
        return cls(
            str(said["name"]),
            str(said["queue"]),
            str(said["pool"]),
            int(said["slots"]),
            int(said["running"]),
            bool(said["draining"]),
        )


@dataclass(slots=True)
class Roster:
    """All workers, and which tools the pools of them have; `changed` is called when others take calls.

    Workers of one queue with the same tools, by name and schema, are a pool: each of them can run each of its calls.
    """

    changed: Callable[[], None]
    workers: dict[str, Worker] = field(default_factory=dict)
    _pools: dict[str, Mapping[str, str]] = field(default_factory=dict)
    _hashes: dict[int, tuple[CompiledTool, str]] = field(default_factory=dict)
    _waiting: set[asyncio.Future[None]] = field(default_factory=set)

    def note(self, sender: str, said: Mapping[str, Any]) -> bool:
        """Note what a worker says; return whether it has to be asked for its tools."""
        worker = Worker.read(said)
        before = self.workers.get(sender)
        self.workers[sender] = worker
        if before is None or before.is_draining != worker.is_draining:
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
            if worker.misses > _MISSES:
                gone.append(self.workers.pop(sender))
        if gone:
            live = {worker.pool for worker in self.workers.values()}
            self._pools = {pool: tools for pool, tools in self._pools.items() if pool in live}
            self.changed()
        return gone

    def forgive(self) -> None:
        """Begin to count anew: nobody could be heard."""
        for worker in self.workers.values():
            worker.misses = 0

    def find_pool(self, tool: CompiledTool) -> str | None:
        """Return a pool whose workers have a tool as it is here, the larger the likelier; None if there is none."""
        fitting = [worker.pool for worker in self._list_fitting(tool)]
        return random.choice(fitting) if fitting else None  # noqa: S311  to spread calls

    def count(self) -> dict[str, float]:
        """Return how many workers of each queue take calls."""
        return dict(Counter(worker.queue for worker in self.workers.values() if not worker.is_draining))

    def serves(self, queue: str, pool: str) -> bool:
        """Return whether a pool has a worker that takes calls."""
        return any(it.queue == queue and it.pool == pool and not it.is_draining for it in self.workers.values())

    async def wait(self, seconds: float) -> None:
        """Wait until something changes, or for so many seconds."""
        future = asyncio.get_running_loop().create_future()
        self._waiting.add(future)
        try:
            await asyncio.wait((future,), timeout=seconds)
        finally:
            self._waiting.discard(future)

    def _list_fitting(self, tool: CompiledTool) -> Iterator[Worker]:
        known = self._hashes.get(id(tool))
        if known is None:  # The tool is kept with it, so that no other can take its id.
            known = self._hashes[id(tool)] = (tool, hash_definition(tool))
        for worker in self.workers.values():
            has_tool = self._pools.get(worker.pool, {}).get(tool.name) == known[1]
            if has_tool and worker.queue == tool.options.queue and not worker.is_draining:
                yield worker

    def forget(self) -> None:
        """Forget the hashes of tools that may not be served any more."""
        self._hashes.clear()

    def _wake(self) -> None:
        self.changed()
        for future in self._waiting:
            if not future.done():
                future.set_result(None)
