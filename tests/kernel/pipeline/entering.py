"""Calls that enter and leave a server, each for a second."""

import asyncio
from typing import Any

from sidecall import tool
from sidecall.kernel.core.context import ANONYMOUS, Caller
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.pipeline.admission import Admission, Limits
from tests.kit.virtual_time import now

ANN, BOB = Caller("ann"), Caller("bob")


def _made(name: str, **options: Any) -> CompiledTool:
    return tool(name, description="Work.", **options)(lambda: None).compiled


FREE = _made("free")
NARROW = _made("narrow", max_concurrency=1)
ALONE = _made("alone", sequential=True, max_concurrency=5)
QUICK = _made("quick", executor="inline")


class Server:
    """Enter and leave, as calls do that take a second."""

    def __init__(self, **limits: Any) -> None:
        self.admission = Admission(Limits(**{"queue": 100, "queue_timeout": 60.0, **limits}))
        self._semaphores: dict[str, Any] = {}
        for made in (FREE, NARROW, ALONE):
            self.load(made)

    def load(self, made: CompiledTool) -> None:
        """Load a tool, or load it again."""
        self._semaphores[made.name] = self.admission.semaphores(made)

    async def call(self, made: CompiledTool = FREE, caller: Caller = ANONYMOUS, seconds: float = 1) -> float:
        """Work for so long; return when it began."""
        semaphores = self._semaphores[made.name]
        await self.admission.enter(semaphores, caller)
        began = now()
        try:
            await asyncio.sleep(seconds)
        finally:
            self.admission.leave(semaphores, caller)
        return began

    @property
    def semaphores(self) -> Any:
        """What calls of a tool without limits pass."""
        return self._semaphores["free"]

    @property
    def crowd(self) -> tuple[int, int]:
        """How many run, and how many wait."""
        return self.admission.running, self.admission.waiting


async def began(*calls: Any) -> list[float]:
    """Tell how many seconds from now each call began."""
    started = now()
    return [round(began - started, 6) for began in await asyncio.gather(*calls)]
