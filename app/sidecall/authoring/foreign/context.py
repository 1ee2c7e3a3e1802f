"""What functions written for the OpenAI Agents SDK are told about a call."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sidecall.core.context import Caller, ToolContext
from sidecall.core.jsonable import to_text


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentsContext:
    """A call as the SDK's ToolContext shows it; there is no agent here, and no run."""

    context: Any
    tool_name: str
    tool_call_id: str = ""
    tool_arguments: str = ""
    caller: Caller
    agent: None = None
    run_config: None = None
    tool_call: None = None
    tool_namespace: None = None
    usage: None = None


def make_agents_context(context: ToolContext, args: Mapping[str, Any]) -> AgentsContext:
    """Translate a call's ToolContext for functions of the SDK, with the arguments as JSON text."""
    return AgentsContext(
        context=context.context,
        tool_name=context.tool_name,
        tool_call_id=context.tool_call_id,
        tool_arguments=to_text(dict(args)),
        caller=context.caller,
    )
