"""The parts that MCP methods use."""

from collections.abc import Awaitable, Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

from msgspec import Struct
from msgspec import field as struct_field
from pydantic_core import to_json

from sidecall.features.approvals.stores import Approvals
from sidecall.features.audit.auditor import Auditor
from sidecall.features.jobs.jobs import Jobs
from sidecall.features.mcp_server.listing import ListChanges, ToolPages
from sidecall.features.mcp_server.revisions import (
    CAPABILITIES_KEY,
    INVALID_PARAMS,
    RpcError,
    RpcMessage,
    hint_caching,
    make_complete,
)
from sidecall.features.mcp_server.sessions import Sessions
from sidecall.http.backlog import Backlog
from sidecall.http.body import Bounds
from sidecall.kernel.core.context import ANONYMOUS, Caller, EventListener, Presence
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.messages import ToolMessage
from sidecall.kernel.core.result_memory import ResultMemory
from sidecall.kernel.core.scopes import DECIDE, DECIDE_OWN
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.lifecycle import Lifecycle
from sidecall.kernel.pipeline.pipeline import Pipeline
from sidecall.kernel.ports.contents import Contents
from sidecall.kernel.registry import Registry
from sidecall.lazy_imports import load_function


@dataclass(frozen=True, slots=True)
class McpParts:
    """The parts of one server, joined in `sidecall.main`.

    Without `jobs`, as in a process that serves one client, repeated calls are not recognized. Without `sessions`
    clients of earlier revisions have none. `methods` are those of features, as `package.module:function`.
    """

    registry: Registry
    pipeline: Pipeline
    approvals: Approvals
    contents: Contents
    pages: ToolPages
    changes: ListChanges
    results: ResultMemory
    bounds: Bounds
    jobs: Jobs | None = None
    lifecycle: Lifecycle = field(default_factory=Lifecycle)
    backlog: Backlog = field(default_factory=Backlog)
    auditor: Auditor | None = None
    sessions: Sessions | None = None
    methods: Mapping[str, str] = field(default_factory=dict)

    def find_method(self, name: str) -> "RpcMethod | None":
        """Load the method of a feature; None where no feature has it."""
        place = self.methods.get(name)
        method: RpcMethod | None = None if place is None else load_function(place)
        return method

    def begin(self, request: CallRequest, tool: CompiledTool | None) -> ToolMessage | Awaitable[ToolMessage]:
        """Answer a call at once, or return an awaitable; a call of a tool that identifies repeated ones runs once."""
        if self.jobs is None or tool is None or tool.options.idempotency is None:
            return self.pipeline.begin(request, tool)
        return self.jobs.run(request, tool)

    async def run(self, request: CallRequest) -> ToolMessage:
        """Answer a call of the tool that it names."""
        came = self.begin(request, self.registry.get(request.call.name))
        return came if isinstance(came, ToolMessage) else await came


# Makes a listener for a call's progress, given the client's progress token.
Tell = Callable[[str | int], EventListener]


def _find_nothing() -> None:
    """Return None."""


class Exchange(Struct):
    """The sender of a message, its revision, and how to send it notifications before the answer.

    `find_url` finds the address of this server over HTTP, if it has any. `sent` are the headers that repeat parts of
    the message; pipes have none.
    """

    caller: Caller = ANONYMOUS
    headers: Mapping[str, str] = struct_field(default_factory=dict)
    is_modern: bool = True
    presence: Presence | None = None
    holder: Hashable = None
    tell: Tell | None = None
    find_url: Callable[[], str | None] = _find_nothing
    sent: Mapping[bytes, bytes] | None = None

    def make_listener(self, message: RpcMessage) -> EventListener | None:
        """Return a listener for a call's progress; None if the client does not want it."""
        token = message.meta.get("progressToken")
        if self.tell is None or isinstance(token, bool) or not isinstance(token, str | int):
            return None
        return self.tell(token)

    def can_ask(self, message: RpcMessage) -> bool:
        """Return whether the client can show a form to a person who may decide, and repeat the call."""
        return self.is_modern and can_ask(message.meta[CAPABILITIES_KEY], self.caller)

    def can_lead(self, message: RpcMessage) -> bool:
        """Return whether the client can lead its person to an address, and repeat the call."""
        asks: Any = message.meta[CAPABILITIES_KEY].get("elicitation") if self.is_modern else None
        return isinstance(asks, dict) and "url" in asks


def can_ask(capabilities: Mapping[str, Any], caller: Caller) -> bool:
    """Return whether a client of these capabilities can show a form to a person who may decide."""
    asks = capabilities.get("elicitation")
    # An empty object means forms.
    return isinstance(asks, dict) and (not asks or "form" in asks) and caller.may(DECIDE, DECIDE_OWN)


# Answers a request with JSON.
RpcMethod = Callable[[McpParts, RpcMessage, Exchange], Awaitable[bytes]]


def make_list_method(name: str, *items: Any) -> RpcMethod:
    """Make the method that answers with a list which never changes."""
    whole = to_json(make_complete({name: items} | hint_caching(is_public=True)))

    async def answer_list(_parts: McpParts, message: RpcMessage, _exchange: Exchange) -> bytes:
        if message.params.get("cursor") is not None:
            raise RpcError(INVALID_PARAMS, "This list has one page, and no cursor.")
        return whole

    return answer_list
