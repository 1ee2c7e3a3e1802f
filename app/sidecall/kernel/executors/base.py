"""The interface of executors."""

from collections.abc import Iterable
from types import CoroutineType
from typing import Any, Protocol

from msgspec import Struct

from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.executors.results import COMPLETE, complete


class Occupancy(Struct, frozen=True):
    """The load of an executor at one moment.

    Attributes:
        size: How many calls it can run at once; None when it has no bound.
        busy: How many it runs, the abandoned ones included.
        waiting: How many wait for their turn.
        killed: How many processes it has killed so far, at a deadline or because the client was gone.
    """

    size: int | None = None
    busy: int = 0
    waiting: int = 0
    killed: int = 0


class Executor(Protocol):
    """Runs the function of a validated invocation."""

    @property
    def occupancy(self) -> Occupancy:
        """The executor's load."""

    async def start(self, tools: Iterable[CompiledTool]) -> None:
        """Prepare for the first calls of these tools; without this they take longer.

        Raises:
            DefinitionError: One of them cannot run here.
        """

    def follow(self, tools: Iterable[CompiledTool]) -> None:
        """Prepare for reloaded tools, without waiting."""

    async def run(self, invocation: Invocation) -> Any:
        """Run the tool: return its result, or raise its exception.

        Raises:
            CallRefused: There is no room for the call now, and it has not begun; the caller is told to come again.
        """

    async def close(self) -> None:
        """Release threads and processes, without waiting for stuck ones."""


class InlineExecutor:
    """Runs async tools on the event loop, and sync ones whose author declares that they are quick."""

    def __init__(self) -> None:
        self._busy = 0

    @property
    def occupancy(self) -> Occupancy:
        """The number of running calls; there is no bound."""
        return Occupancy(busy=self._busy)

    async def start(self, _: Iterable[CompiledTool]) -> None:
        """Do nothing: the executor needs no preparation."""

    def follow(self, _: Iterable[CompiledTool]) -> None:
        """Do nothing: a reloaded tool brings its code."""

    async def run(self, invocation: Invocation) -> Any:
        """Call the function on this event loop, and wait until its result is complete."""
        self._busy += 1
        try:
            tool, values = invocation.tool, invocation.values
            if tool.takes_positional:
                positional, keywords = tool.bind(values)
                result = tool.function(*positional, **keywords)
            else:
                result = tool.function(**values)
            if type(result) is CoroutineType:  # Here rather than there, since most tools are async and return a value.
                result = await result
            if type(result) in COMPLETE:
                return result
            return await complete(result, invocation.say_part, invocation.open_share)
        finally:
            self._busy -= 1

    async def close(self) -> None:
        """Do nothing: there is nothing to release."""
