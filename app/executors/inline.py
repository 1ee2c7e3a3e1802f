"""Run tools on the event loop."""

import inspect
from typing import Any

from app.core.invocation import Invocation


class InlineExecutor:
    """Run async tools, and sync ones whose author promises that they are quick."""

    async def run(self, invocation: Invocation) -> Any:
        """Call the function here, and await what it returns if it can be awaited."""
        positional, keywords = invocation.tool.bind(invocation.values)
        result = invocation.tool.function(*positional, **keywords)
        return await result if inspect.isawaitable(result) else result

    async def close(self) -> None:
        """Hold nothing, give nothing back."""
