"""The context for functions written for the OpenAI Agents SDK."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sidecall.kernel.core.context import Caller, ToolContext
from sidecall.kernel.core.usage import Usage
from sidecall.kernel.json_data.to_json import to_text


@dataclass(slots=True, kw_only=True)
class AgentsContext:
    """A call in the form of the SDK's ToolContext, without an agent or run."""

    context: Any
    tool_name: str
    tool_call_id: str = ""
    tool_arguments: str = ""
    caller: Caller
    agent: None = None
    run_config: None = None
    tool_call: None = None
    tool_namespace: None = None
    usage: Usage = field(default_factory=Usage)


def make_agents_context(context: ToolContext, args: Mapping[str, Any]) -> Any:
    """Translate a ToolContext for functions of the SDK, with the arguments as JSON text.

    If the SDK is loaded it is an instance of its class, since its agents and its Codex inspect it.
    """
    said: dict[str, Any] = {
        "context": context.context,
        "tool_name": context.tool_name,
        "tool_call_id": context.tool_call_id,
        "tool_arguments": to_text(dict(args)),
    }
    make = getattr(sys.modules.get("agents.tool_context"), "ToolContext", None)
    if make is None:
        return AgentsContext(**said, caller=context.caller)
    made = make(**said, tool_call=_make_tool_call(said))
    made.caller = context.caller
    return made


def _make_tool_call(said: Mapping[str, Any]) -> Any:
    """Make the SDK's item for the call, by which it identifies pending approvals."""
    item = getattr(sys.modules.get("openai.types.responses"), "ResponseFunctionToolCall", None)
    if item is None:
        return None
    names = {"name": said["tool_name"], "call_id": said["tool_call_id"], "arguments": said["tool_arguments"]}
    return item(type="function_call", **names)
