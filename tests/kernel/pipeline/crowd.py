"""Callers by the hundred, who come, wait, work, give up and go, as a seeded die says."""

import asyncio
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.pipeline.admission import Admission
from tests.kit.virtual_time import running


@dataclass
class Crowd:
    """Let callers in, and watch that no limit is passed.

    Everything happens at a multiple of half a second, so that much happens at the same moment.
    """

    admission: Admission
    tools: Sequence[CompiledTool]
    seed: int
    inside: Counter[str] = field(default_factory=Counter)
    most: Counter[str] = field(default_factory=Counter)
    ends: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._die = random.Random(self.seed)
        self._semaphores = {tool.name: self.admission.semaphores(tool) for tool in self.tools}

    async def come(self, count: int) -> None:
        """Let so many come, and wait until the last has gone."""
        await asyncio.gather(*(self._visit() for _ in range(count)), return_exceptions=True)

    async def _visit(self) -> None:
        await asyncio.sleep(self._moment(20))
        task = asyncio.ensure_future(self._enter())
        # Some give up, whether they wait or work.
        if self._die.random() < 0.4:
            running().call_later(self._moment(10), task.cancel)
        [came] = await asyncio.gather(task, return_exceptions=True)
        self.ends[type(came).__name__] += 1

    async def _enter(self) -> None:
        tool = self._die.choice(self.tools)
        caller = Caller(self._die.choice("abc"))
        semaphores = self._semaphores[tool.name]
        await self.admission.enter(semaphores, caller)
        try:
            await self._work("server", tool.name, f"caller {caller.subject}")
        finally:
            self.admission.leave(semaphores, caller)

    async def _work(self, *places: str) -> None:
        self.inside.update(places)
        self.most |= self.inside
        try:
            await asyncio.sleep(self._moment(6))
            if self._die.random() < 0.2:
                raise ConnectionError
        finally:
            self.inside.subtract(places)

    def _moment(self, most: int) -> float:
        return self._die.randrange(most) / 2

    async def places(self, caller: str) -> int:
        """Count how many calls of the first tool are let in at once; none of them leaves."""
        semaphores = self._semaphores[self.tools[0].name]
        comers = [asyncio.ensure_future(self.admission.enter(semaphores, Caller(caller))) for _ in range(10)]
        came = await asyncio.gather(*comers, return_exceptions=True)
        return sum(isinstance(entered, float) for entered in came)
