"""Bind decisions to the definition of the tool that was asked about."""

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Literal

from sidecall.features.approvals.record import ApprovalRecord, Decision
from sidecall.features.approvals.steps import describe_tool
from sidecall.features.approvals.stores import Approvals
from sidecall.kernel.concurrency.coroutines import BegunWork
from sidecall.kernel.core.errors import ToolChanged
from sidecall.kernel.core.overload import StoreUnavailable
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.pipeline.pipeline import Pipeline
from sidecall.kernel.ports.approvals.approval import AskedTool
from sidecall.kernel.registry import Registry
from sidecall.kernel.schema.forms.definitions import hash_definition

logger = logging.getLogger("sidecall")

ToolState = Literal["same", "changed", "gone"]


def find_tool(pipeline: Pipeline, record: ApprovalRecord) -> CompiledTool | None:
    """Return the tool that an approved call would run now; None where there is none of its name."""
    name = record.asked.name if record.call is None else record.call.tool_call.name
    return pipeline.find(name)


def compare(tool: CompiledTool | None, asked: str | None) -> ToolState:
    """Return how a tool differs from the one with this hash that was asked about; None is like any."""
    if tool is None:
        return "gone"
    return "same" if asked is None or describe_tool(tool).hash == asked else "changed"


def is_changed(pipeline: Pipeline, record: ApprovalRecord) -> bool:
    """Return whether a decided call would run another tool than the decision was about."""
    return record.tells_or_runs and compare(find_tool(pipeline, record), record.approval.tool_hash) == "changed"


def require_same(tool: CompiledTool | None, record: ApprovalRecord, decision: Decision) -> None:
    """Refuse a decision that runs another definition than was asked about, or than it names.

    A rejection that no tool learns of, and that holds for one call, runs nothing and is never refused. An approval of
    a call whose tool is gone is: the tool may come back.

    Raises:
        ToolChanged: With `asked` and `current`, each a `hash` and a `definition`; null where it is not known.
    """
    if decision.decision == "reject" and (tool is None or not (record.tells_tool or decision.always)):
        return
    asked = record.approval.tool_hash
    wanted = decision.hash or asked
    if wanted is None:
        return
    current = None if tool is None else describe_tool(tool)
    if current is None or current.hash != wanted:
        raise ToolChanged(_explain(current), asked=_show(record.tool, asked), current=_show(current))


def _explain(current: AskedTool | None) -> str:
    if current is None:
        return "The tool that was asked about is gone. Reject the call, or approve it when the tool is back."
    return (
        "The tool is not the one that was asked about. Compare both definitions; to decide about the call with the "
        f"tool as it is now, send `hash` with the decision: {current.hash}"
    )


def _show(tool: AskedTool | None, known: str | None = None) -> dict[str, Any] | None:
    if tool is None:
        return None if known is None else {"hash": known, "definition": None}
    return {"hash": tool.hash, "definition": tool.definition}


def show_both(tool: CompiledTool | None, record: ApprovalRecord) -> dict[str, Any] | None:
    """Return the definition that was asked about and the present one, each with its hash; None where they are one."""
    asked = record.approval.tool_hash
    if asked is None or compare(tool, asked) == "same":
        return None
    current = None if tool is None else describe_tool(tool)
    return {"asked": _show(record.tool, asked), "current": _show(current)}


def read_function(definition: Any) -> dict[str, Any]:
    """Return description and parameters of a definition, as far as it has them."""
    found = definition.get("function", definition) if isinstance(definition, dict) else {}
    return found if isinstance(found, dict) else {}


class ChangedTools:
    """Log how many waiting calls were asked about tools that have changed since, or are gone."""

    def __init__(
        self, approvals: Approvals, registry: Registry, hear_changes: Callable[[Callable[[], None]], None]
    ) -> None:
        """Take the parts; `hear_changes` registers what is called whenever tools have changed."""
        self._approvals = approvals
        self._registry = registry
        self._begun = BegunWork()
        self._is_open = False
        hear_changes(self.look)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Look once, and then with each `look`, until the end."""
        self._is_open = True
        self.look()
        try:
            yield
        finally:
            self._is_open = False
            await self._begun.close(0.0)

    def look(self) -> None:
        """Look in the background."""
        if self._is_open:
            self._begun.begin(self._look())

    async def _look(self) -> None:
        try:
            waiting = await self._approvals.list_waiting_tools()
        except StoreUnavailable:
            return
        if not waiting:
            return
        tools = {name: self._registry.get(name) for name in self._registry.names}
        known = {hash_definition(tool) for tool in tools.values() if tool is not None}
        other = [it for it in waiting if it.hash not in known and (it.hash is not None or it.name not in tools)]
        for text, found in (
            ("have changed since", [it for it in other if it.name in tools]),
            ("are gone", [it for it in other if it.name not in tools]),
        ):
            if found:
                names = ", ".join(sorted({it.name for it in found}))
                logger.warning(
                    "%d of the waiting approvals name tools that %s: %s", sum(it.count for it in found), text, names
                )
