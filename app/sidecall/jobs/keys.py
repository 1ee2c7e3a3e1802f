"""By what a call is known again."""

import time

from sidecall.core.calls.keys import CallKey, make_key
from sidecall.core.invocation import CallRequest
from sidecall.core.run.workspaces import HEADER
from sidecall.core.tool import CompiledTool


def make_call_key(request: CallRequest, tool: CompiledTool, sent: str | None, ttl: float) -> CallKey | None:
    """Make the key of a call: the one that its program sent, or the id that the model gave it, if its tool says so.

    Args:
        request: The call.
        tool: Its tool.
        sent: The program's key.
        ttl: Seconds for which the call is known by it.
    """
    expires_at = time.time() + ttl
    if sent is not None:
        beside = [request.state, dict(request.context)]
        if HEADER.lower() in request.headers:
            beside.append(request.headers[HEADER.lower()])
        return make_key("header", request.caller, sent, request.call, beside, expires_at)
    if tool.options.idempotency == "tool_call_id":
        # Not the state, which moves on while an agent tries again.
        return make_key(f"id {tool.name}", request.caller, request.call.id, request.call, (), expires_at)
    return None


def make_replay_key(request: CallRequest, replay_of: str, sent: str, ttl: float) -> CallKey:
    """Make the key of a repetition, by which nothing else is known than repetitions of this call."""
    return make_key(f"replay {replay_of}", request.caller, sent, request.call, (), time.time() + ttl)
