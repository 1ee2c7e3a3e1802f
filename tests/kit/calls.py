"""Calls of tools, as values, in this process, and to a server."""

from typing import Any

from sidecall import BaseTool, ToolCall, ToolMessage
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.sender import Sender
from sidecall.kernel.ports.approvals.review import Review
from tests.kit.servers import CLIENT, Server


def write_call(name: str, /, *, id: str = "call_1", **args: Any) -> dict[str, Any]:
    """Write a ToolCall as LangChain does."""
    return {"type": "tool_call", "name": name, "args": args, "id": id}


def write_request(name: str, args: Any = None, *, id: str = "call_1", **beside: Any) -> CallRequest:
    """Make a request for the pipeline, with what the caller sends next to the call."""
    return request_call(ToolCall(name=name, args={} if args is None else args, id=id), **beside)


def request_call(call: ToolCall, **beside: Any) -> CallRequest:
    """Make a request of a call, with what is known of its sender and of its review, and what is sent next to it."""
    known = {name: beside.pop(name) for name in Sender.__struct_fields__ if name in beside}
    review = {name: beside.pop(name) for name in Review.__struct_fields__ if name in beside and name != "state"}
    return CallRequest(call, Sender(**known), review=Review(**review), **beside)


async def run(offered: BaseTool, args: Any = None, **supplied: Any) -> ToolMessage:
    """Run a tool in this process through the whole pipeline, with what the caller sends next to the call."""
    call = {"type": "tool_call", "name": offered.name, "args": {} if args is None else args, "id": "call_1"}
    message: ToolMessage = await offered.ainvoke(call, **supplied)
    return message


def post(server: Server, name: str, /, **args: Any) -> Any:
    """Run a tool of a server and return the message as JSON."""
    return CLIENT.post(f"{server.url}/tool_calls", json=write_call(name, **args), timeout=60).json()


def kind_of(message: Any) -> str:
    """Return the kind of a failed call, from its message as JSON."""
    return str(message["response_metadata"]["error"]["kind"])


def without_tool(approval: dict[str, Any]) -> dict[str, Any]:
    """Return an approval without what `GET /approvals/{id}` alone says of its tool."""
    return {name: it for name, it in approval.items() if name not in ("args_schema", "tool_description", "tool_state")}
