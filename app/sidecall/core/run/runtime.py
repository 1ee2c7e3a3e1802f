"""What tools written for LangGraph are told of their call: ToolRuntime and RunnableConfig."""

from collections.abc import Callable
from dataclasses import field
from typing import Any, Generic, TypedDict
from uuid import UUID

# With defaults, and so that `ToolRuntime` alone is a whole type too.
from typing_extensions import TypeVar

from sidecall.core.context import ToolContext
from sidecall.core.store.protocol import Store
from sidecall.dataclasses import dataclass

ContextT = TypeVar("ContextT", default=Any)
StateT = TypeVar("StateT", default=Any)


class RunnableConfig(TypedDict, total=False):
    """What LangChain hands from runnable to runnable; `configurable` is the `context` that the caller sends.

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


@dataclass(slots=True, kw_only=True)
class ToolRuntime(Generic[ContextT, StateT]):
    """What a tool of LangGraph may ask about its call; a parameter of this type is never shown to the model.

    `state` and `context` are what the calling program sends beside the call. In `ToolRuntime[Context, State]` they are
    checked, and made objects of these types.
    """

    state: StateT
    context: ContextT
    config: RunnableConfig
    stream_writer: Callable[[Any], None]
    tool_call_id: str
    store: Store | None
    tool_context: ToolContext
    tools: list[Any] = field(default_factory=list)
    execution_info: Any = None
    server_info: Any = None

    def emit_output_delta(self, delta: Any) -> None:
        """Show a part of the answer to whoever follows the call as events."""
        self.tool_context.signals.say("partial", self.tool_call_id, {"content": delta})
