"""Serialize a call for a tool process."""

import pickle
import time
from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any

from sidecall.features.processes.finder import Home
from sidecall.features.processes.output import ResultBounds
from sidecall.features.store.item_store import ItemStore
from sidecall.kernel.core.context import Caller, CallOrigin, EventListener, HeaderMap
from sidecall.kernel.core.injection import Injection
from sidecall.kernel.core.invocation import CallRequest, CallSecrets, Invocation, find_given, open_cost
from sidecall.kernel.core.messages import ToolCall
from sidecall.kernel.core.origin import get_origin
from sidecall.kernel.core.sender import Sender
from sidecall.kernel.core.services import CallServices, ToolResources
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.ports.approvals.review import Review
from sidecall.kernel.ports.contents import ReachableContents
from sidecall.kernel.ports.workspaces import ConversationFolder

# Bytes of JSON up to which a value is restored even if none is asked for.
_TEXT_FROM = 262_144


def bounds_of(tool: CompiledTool, most: int | None) -> ResultBounds:
    """Return the bounds of a tool's results; structure is only sent where callbacks or guardrails read it."""
    is_seen = most is None or tool.options.callbacks or tool.options.tool_output_guardrails
    return ResultBounds(most if is_seen else min(_TEXT_FROM, most or 0), most)


def write_request(invocation: Invocation, home: Home, memory_limit_mb: int, bounds: ResultBounds) -> dict[str, Any]:
    """Reduce a call to what its tool needs, with only the secrets that it asks for.

    What most calls do not have is left out, since each value takes time on both sides.
    """
    given, tool, sender = find_given(invocation), invocation.tool, invocation.request.sender
    often_empty = {
        "context": dict(given.context),
        "headers": dict(sender.headers),
        "user_tokens": dict(invocation.secrets.tokens),
        "approved": invocation.request.review.approved,
        "has_store": invocation.services.resources.store is not None,
        "has_contents": invocation.services.resources.contents is not None,
        "workspace": _write_workspace(invocation.workspace),
        "is_heard": invocation.request.listener is not None,
        "trace": dict(invocation.services.resources.trace()),
        "cost": open_cost(invocation).fine,
        **(_write_secrets(invocation) if tool.injections else {}),
    }
    often_none = {"state": given.state, **_write_review(invocation.request.review)}
    return {
        "home": home,
        "args": invocation.args,
        "call_id": invocation.call.id,
        "invocation_id": invocation.id,
        "caller": _write_caller(sender.caller),
        "deadline": invocation.deadline,  # on the clock that all processes of a machine share
        "memory_limit_mb": tool.options.memory_limit_mb or memory_limit_mb,
        "bounds": bounds,
        "origin": get_origin(invocation),
        **{name: value for name, value in often_empty.items() if value},
        **{name: value for name, value in often_none.items() if value is not None},
    }


def _write_caller(caller: Caller) -> list[Any]:
    return [caller.subject, caller.tenant, [*caller.scopes], caller.toolset]


def _write_review(review: Review) -> dict[str, Any]:
    return {"rejection": review.rejection, "resumed": review.state, "reply": review.reply}


def _write_secrets(invocation: Invocation) -> dict[str, dict[str, str | None]]:
    wanted = [injection for injection in invocation.tool.injections if injection.source == "secret"]
    own, find = invocation.secrets.own, invocation.services.resources.secrets
    return {
        "secrets": {it.field: find(it.field) for it in wanted if it.field and _asks(it, own)},
        "own_secrets": {it.field: own[it.field] for it in wanted if it.field and it.field in own and it.of != "server"},
    }


def _write_workspace(workspace: ConversationFolder | None) -> str | None:
    return None if workspace is None else b64encode(pickle.dumps(workspace)).decode()


def _open_workspace(written: str | None) -> ConversationFolder | None:
    """Open in this process the workspace that is open in the server."""
    if written is None:
        return None
    opened: ConversationFolder = pickle.loads(b64decode(written))  # noqa: S301  # the server has written it
    return opened


def _asks(injection: Injection, own: Mapping[str, str]) -> bool:
    """Return whether a parameter takes one of the server's secrets."""
    return injection.of == "server" or (injection.of == "either" and injection.field not in own)


def read_request(
    request: Mapping[str, Any],
    tool: CompiledTool,
    listener: EventListener | None,
    store: ItemStore | None = None,
    contents: ReachableContents | None = None,
) -> Invocation:
    """Return the call for the tool in this process."""
    get = request.get
    subject, tenant, scopes, toolset = request["caller"]
    call = CallRequest(
        ToolCall(name=request["home"]["name"], args=request["args"], id=request["call_id"]),
        Sender(HeaderMap(get("headers", {})), Caller(subject, tenant, frozenset(scopes), toolset)),
        state=get("state"),
        context=get("context", {}),
        review=Review(
            approved=get("approved", False),
            rejection=get("rejection"),
            state=get("resumed"),
            reply=get("reply"),
        ),
        listener=listener,
        origin=CallOrigin(*request["origin"]),
    )
    made = Invocation(
        id=request["invocation_id"],
        request=call,
        tool=tool,
        started=time.monotonic(),
        deadline=request["deadline"],
        services=CallServices(
            ToolResources(store, get("secrets", {}).get, contents=contents, trace=lambda: dict(get("trace", {})))
        ),
        args=request["args"],
    )
    made.workspace = _open_workspace(get("workspace"))
    made.secrets = CallSecrets(get("own_secrets", {}), get("user_tokens", {}))
    return made
