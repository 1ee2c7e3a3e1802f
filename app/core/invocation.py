"""One call on its way through the pipeline."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from uuid_utils import uuid7

from app.core.context import ANONYMOUS, Caller, ToolContext
from app.core.errors import ToolFailure
from app.core.injection import Supply
from app.core.messages import ToolCall, ToolMessage
from app.core.store import Store
from app.core.tool import CompiledTool


@dataclass(frozen=True, slots=True)
class CallRequest:
    """Hold a ToolCall and what its sender, never the model, supplies beside it."""

    call: ToolCall
    caller: Caller = ANONYMOUS
    state: Any = None
    context: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Invocation:
    """Carry one call from stage to stage.

    Each field below the blank line is written once, by the stage named beside it, and read by the later ones.
    """

    id: str
    request: CallRequest
    tool: CompiledTool
    started: float
    deadline: float | None
    store: Store | None

    args: dict[str, Any] = field(default_factory=dict)  # decode
    repaired: list[str] = field(default_factory=list)  # decode, validate
    ignored: list[str] = field(default_factory=list)  # inject, validate
    injected: dict[str, Any] = field(default_factory=dict)  # inject
    values: dict[str, Any] = field(default_factory=dict)  # validate
    output: Any = None  # execute
    message: ToolMessage | None = None  # format
    failure: ToolFailure | None = None  # whichever stage failed

    @property
    def call(self) -> ToolCall:
        """The call as it was asked for."""
        return self.request.call

    def supply(self) -> Supply:
        """Gather what injected parameters may be filled with."""
        context = ToolContext(
            tool_name=self.tool.name,
            tool_call_id=self.call.id,
            invocation_id=self.id,
            caller=self.request.caller,
            state=self.request.state,
            context=self.request.context,
            headers=self.request.headers,
            store=self.store,
            deadline=self.deadline,
        )
        return Supply(self.call.id, self.request.state, self.request.context, context)


def new_invocation_id() -> str:
    """Mint an id; a UUIDv7, so that ids sort by time."""
    return str(uuid7())


def new_invocation(
    request: CallRequest, tool: CompiledTool, default_timeout: float | None, store: Store | None = None
) -> Invocation:
    """Accept a call: give it an id and a deadline on the monotonic clock."""
    now = time.monotonic()
    seconds = default_timeout if tool.options.timeout is None else tool.options.timeout
    deadline = None if seconds is None else now + seconds
    return Invocation(new_invocation_id(), request, tool, now, deadline, store)
