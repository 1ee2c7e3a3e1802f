"""Notify a LangChain tool's callbacks of calls that were refused before."""

import sys
from typing import Any
from uuid import UUID

from pydantic import ValidationError

from sidecall.kernel.core.errors import InvalidArguments

# Calls that are on their way at once, and more.
_MOST = 10_000


class RefusalReporter:
    """Notifies a LangChain tool's own callbacks of arguments refused before it ran, as LangChain does.

    It is a callback handler of ours. LangChain itself notifies them of calls that reach it.
    """

    def __init__(self, it: Any) -> None:
        """Notify for this tool."""
        self._it = it
        self._sent: dict[UUID, Any] = {}

    def hand_over(self, invocation_id: str) -> None:
        """Leave a call to LangChain."""
        self._sent.pop(UUID(invocation_id), None)

    async def on_tool_start(self, serialized: dict[str, Any], input_str: str, *, run_id: UUID, inputs: Any) -> None:
        """Keep the original arguments until the call reaches LangChain, or ends."""
        del serialized, input_str
        self._sent[run_id] = inputs
        if len(self._sent) > _MOST:
            del self._sent[next(iter(self._sent))]

    async def on_tool_end(self, output: Any, *, run_id: UUID) -> None:
        """Drop the call."""
        del output
        self._sent.pop(run_id, None)

    async def on_tool_error(self, error: BaseException, *, run_id: UUID, tool_call_id: str) -> None:
        """Report start and error, if the error is about arguments."""
        is_kept = run_id in self._sent
        sent = self._sent.pop(run_id, None)
        if not is_kept or not isinstance(error, InvalidArguments | ValidationError):
            return
        it = self._it
        # As the tool's own `arun` makes it.
        manager = sys.modules["langchain_core.callbacks"].AsyncCallbackManager.configure(
            None, it.callbacks, it.verbose, None, it.tags, None, it.metadata
        )
        about = {"name": it.name, "description": it.description}
        run = await manager.on_tool_start(about, str(sent), run_id=run_id, inputs=sent, tool_call_id=tool_call_id)
        await run.on_tool_error(getattr(error, "original", None) or error, tool_call_id=tool_call_id)
