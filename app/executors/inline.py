"""Run tools on the event loop."""

from typing import Any

from app.core.invocation import Invocation
from app.executors.results import settled


class InlineExecutor:
    """Run async tools, and sync ones whose author promises that they are quick."""

    async def run(self, invocation: Invocation) -> Any:
        """Call the function here, and wait until what it returns is complete."""
        positional, keywords = invocation.tool.bind(invocation.values)
        return await settled(invocation.tool.function(*positional, **keywords))

    async def close(self) -> None:
        """Hold nothing, give nothing back."""
