"""The one method behind which tools run."""

from typing import Any, Protocol

from app.core.invocation import Invocation


class Executor(Protocol):
    """Run the function of a validated invocation."""

    async def run(self, invocation: Invocation) -> Any:
        """Return what the tool returns, and raise what it raises."""

    async def close(self) -> None:
        """Give back threads and processes."""
