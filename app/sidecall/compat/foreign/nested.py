"""Approvals for calls that an agent of the OpenAI Agents SDK makes inside a tool."""

import sys
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any
from uuid import uuid4

from pydantic_core import from_json

from sidecall.kernel.core.context import ToolContext
from sidecall.kernel.core.errors import CallRejected
from sidecall.kernel.core.messages import ToolCall
from sidecall.kernel.ports.approvals.wanted import ApprovalWanted

# Runs that wait, per tool; the oldest goes when there are more, and begins anew once it is approved.
_MOST = 1000

# Whose call it is, its id and its arguments.
_Key = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A paused run, kept as long as the SDK's item for it exists."""

    tool_call: Any
    scope: str


class NestedRuns:
    """The runs of one `Agent.as_tool` that wait for a person."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[_Key, _Waiting] = OrderedDict()

    async def run(self, asked: ToolContext, theirs: Any, invoke: Callable[[], Awaitable[Any]]) -> Any:
        """Run the agent, or resume its run.

        Args:
            asked: Our context of the call.
            theirs: The SDK's, with the item that stands for the call.
            invoke: Runs the tool.

        Raises:
            ApprovalWanted: A tool of the agent's has to be approved; once it is decided about, the run goes on here.
            CallRejected: It was rejected, and the run that waited for it is forgotten.
        """
        state = sys.modules.get("agents.agent_tool_state")
        if state is None or getattr(theirs, "tool_call", None) is None:
            return await invoke()
        key = (asked.caller.tenant, asked.caller.subject, asked.tool_call_id, theirs.tool_arguments)
        waiting = self._waiting.pop(key, None)
        if waiting is None:
            if asked.rejection is not None:
                raise CallRejected(asked.rejection)
            waiting = _Waiting(theirs.tool_call, uuid4().hex)
        elif asked.approved:
            _decide(state, waiting, asked.rejection)
        theirs.tool_call = waiting.tool_call
        state.set_agent_tool_state_scope(theirs, waiting.scope)
        answer = await invoke()
        wanted = _find_wanted(state, waiting)
        if wanted is None:
            return answer
        self._waiting[key] = waiting
        if len(self._waiting) > _MOST:
            self._waiting.popitem(last=False)
        raise ApprovalWanted(ToolCall(name=wanted.name or "?", args=_read(wanted.arguments), id=asked.tool_call_id))


def _read(text: str | None) -> dict[str, Any] | str:
    """Parse arguments as an object, if they are one."""
    try:
        read = from_json(text or "{}")
    except ValueError:
        return text or ""
    return read if isinstance(read, dict) else text or ""


def _decide(state: ModuleType, waiting: _Waiting, rejection: str | None) -> None:
    """Approve or reject the call that the person was shown, and resume the run."""
    result = state.peek_agent_tool_run_result(waiting.tool_call, scope_id=waiting.scope)
    if result is None or not result.interruptions:
        return
    resumed = result.to_state()
    item = resumed.get_interruptions()[0]
    if rejection is None:
        resumed.approve(item)
    else:
        resumed.reject(item, rejection_message=rejection)
    state.record_agent_tool_resume_state(waiting.tool_call, resumed, scope_id=waiting.scope, approval_items=[item])


def _find_wanted(state: ModuleType, waiting: _Waiting) -> Any:
    """Return the first call that waits for approval; finished runs are dropped."""
    result = state.peek_agent_tool_run_result(waiting.tool_call, scope_id=waiting.scope)
    items = None if state.get_agent_tool_resume_state(result) is not None else getattr(result, "interruptions", None)
    if not items:
        state.drop_agent_tool_run_result(waiting.tool_call, scope_id=waiting.scope)
        return None
    return items[0]
