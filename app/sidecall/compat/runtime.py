"""ToolRuntime and RunnableConfig, for tools written for LangGraph."""

from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypedDict
from uuid import UUID

# With defaults, and so that `ToolRuntime` alone is a whole type too.
from typing_extensions import TypeVar

from sidecall.kernel.core.context import ToolContext
from sidecall.kernel.ports.store import Store

ContextT = TypeVar("ContextT", default=Any)
StateT = TypeVar("StateT", default=Any)


class RunnableConfig(TypedDict, total=False):
    """LangChain's config for runnables; `configurable` is the `context` that the caller sends.

    A parameter of this type is never shown to the model.
    """

    tags: list[str]
    metadata: dict[str, Any]
    callbacks: Any
    run_name: str
    run_id: UUID | None
    configurable: dict[str, Any]
    max_concurrency: int | None
    recursion_limit: int


class StreamWriter(Protocol):
    """Sends a part of the tool's progress to the client that follows the call."""

    def __call__(self, part: Any, /) -> None:
        """Send a part."""


@dataclass(frozen=True, slots=True)
class ExecutionInfo:
    """LangGraph's description of a run; `thread_id` is the conversation, and `run_id` the id of the answer.

    There are no checkpoints, so their ids are empty.
    """

    checkpoint_id: str = ""
    checkpoint_ns: str = ""
    task_id: str = ""
    thread_id: str | None = None
    run_id: str | None = None
    node_attempt: int = 1
    node_first_attempt_time: float | None = None


@dataclass(slots=True, kw_only=True)
class ToolRuntime(Generic[ContextT, StateT]):
    """The call that a tool written for LangGraph serves; a parameter of this type is never shown to the model.

    `state` and `context` are what the calling program sends with the call. In `ToolRuntime[Context, State]` they are
    validated and converted to these types.
    """

    state: StateT
    context: ContextT
    config: RunnableConfig
    stream_writer: StreamWriter
    tool_call_id: str
    store: Store | None
    # None only where a test makes one.
    tool_context: ToolContext | None = None
    tools: list[Any] = field(default_factory=list)
    execution_info: ExecutionInfo | None = None
    server_info: Any = None

    def emit_output_delta(self, delta: Any) -> None:
        """Send a part of the answer to the client that follows the call as events."""
        if self.tool_context is not None:
            self.tool_context.signals.say("partial", self.tool_call_id, {"content": delta})
