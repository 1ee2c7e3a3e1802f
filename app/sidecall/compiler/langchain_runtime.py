"""Make the values that are injected into tools written for LangChain, in the types they name."""

import itertools
import sys
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, is_dataclass
from typing import Any, Generic, Protocol, TypedDict
from uuid import UUID

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError

# With defaults, and so that `ToolRuntime` alone is a whole type too.
from typing_extensions import TypeVar, get_type_hints, is_typeddict

from sidecall.compiler.run_manager import AsyncCallbackManagerForToolRun, CallbackManager, CallbackManagerForToolRun
from sidecall.compiler.state_messages import is_message_like, revive_messages
from sidecall.kernel.core.context import ToolContext
from sidecall.kernel.core.errors import MissingContext, ToolExecutionError
from sidecall.kernel.core.injection import FromFunction, Supply
from sidecall.kernel.json_data.pointer import format_path
from sidecall.kernel.json_data.to_json import to_text
from sidecall.kernel.ports.store import Store
from sidecall.kernel.ports.workspaces import name_conversation

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


# Makes of what the caller sent what the tool wants.
Read = Callable[[Any, ToolContext], Any]


def make_run(supply: Supply) -> CallbackManagerForToolRun | AsyncCallbackManagerForToolRun:
    """Make LangChain's `run_manager`, with the tool's own callback handlers."""
    return make_async_run(supply) if supply.is_async else make_sync_run(supply)


def make_sync_run(supply: Supply) -> CallbackManagerForToolRun:
    """Make the sync manager, which an async tool may request by its type."""
    return CallbackManagerForToolRun(**_describe_run(supply))


def make_async_run(supply: Supply) -> AsyncCallbackManagerForToolRun:
    """Make the async manager."""
    return AsyncCallbackManagerForToolRun(**_describe_run(supply))


def _describe_run(supply: Supply) -> dict[str, Any]:
    options = supply.options
    handlers = [callback.handler for callback in options.callbacks]
    run_id = UUID(supply.tool_context.invocation_id)
    return {"run_id": run_id, "handlers": handlers, "tags": options.tags, "metadata": options.metadata}


def make_callbacks(supply: Supply) -> CallbackManager:
    """Make the `callbacks` for runnables that a tool calls."""
    child: CallbackManager = make_run(supply).get_child()
    return child


def make_config(supply: Supply) -> RunnableConfig:
    """Make LangChain's config."""
    return {
        "tags": list(supply.options.tags),
        "metadata": dict(supply.options.metadata),
        "callbacks": make_callbacks(supply),
        "recursion_limit": 25,
        "configurable": make_configurable(supply.tool_context.headers, supply.context),
    }


def make_configurable(headers: Mapping[str, str], context: Mapping[str, Any]) -> dict[str, Any]:
    """Make LangGraph's `configurable` from a context; the conversation is its thread unless the context names one."""
    conversation = name_conversation(headers, context)
    return {**({} if conversation is None else {"thread_id": conversation}), **context}


def find_thread(supply: Supply) -> str | None:
    """Return LangGraph's thread id: the caller's, or the conversation, or None."""
    named = supply.context.get("thread_id")
    return named if isinstance(named, str) else name_conversation(supply.tool_context.headers, supply.context)


def plan_runtime(annotation: Any) -> FromFunction:
    """Plan the injection of a ToolRuntime; `ToolRuntime[Context, State]` declares the types of context and state."""
    context, state = (*typing.get_args(annotation), None, None)[:2]
    read_context, read_state = _plan_reading("context", context), _plan_reading("state", state)
    is_untyped = read_state is _keep
    revive = choose_revival((typing.get_origin(annotation) or annotation).__module__)

    def make(supply: Supply) -> ToolRuntime[Any, Any]:
        asked = supply.tool_context
        state = {} if supply.state is None else supply.state
        return ToolRuntime(
            state=read_state(revive(state) if is_untyped else state, asked),
            context=read_context(dict(supply.context), asked),
            config=make_config(supply),
            stream_writer=make_writer(asked),
            tool_call_id=supply.call_id,
            store=asked.store,
            tool_context=asked,
            execution_info=ExecutionInfo(
                task_id=asked.invocation_id, thread_id=find_thread(supply), run_id=asked.invocation_id
            ),
        )

    return FromFunction(make)


def choose_revival(module: str, field: str | None = None) -> Callable[[Any], Any]:
    """Choose how JSON messages in a state, or in one of its fields, are revived.

    They become our classes if `module`, the home of the requesting type or marker, is ours; LangChain's otherwise.
    """
    theirs = getattr(sys.modules.get("langchain_core.messages"), "convert_to_messages", None)
    is_ours = module.partition(".")[0] == "sidecall"
    convert: Callable[[Any], Any] = revive_messages if is_ours or theirs is None else theirs

    def revive(state: Any) -> Any:
        messages = state.get("messages") if isinstance(state, Mapping) else None
        if not (isinstance(messages, list) and all(map(is_message_like, messages))):
            return state
        try:
            return {**state, "messages": convert(messages)}
        except Exception:
            return state  # They are of another kind.

    return revive if field is None else lambda value: revive({field: value})[field]


def make_writer(context: ToolContext) -> Callable[[Any], None]:
    """Make LangGraph's stream writer; what is written is reported as progress."""
    numbers = itertools.count(1)

    def write(part: Any) -> None:
        context.report_progress(next(numbers), None, part if isinstance(part, str) else to_text(part))

    return write


def _plan_reading(place: str, wanted: Any) -> Read:
    """Plan how a value is converted to the wanted type; of a TypedDict only the sent keys are validated."""
    if is_typeddict(wanted):
        return _plan_keys(place, wanted)
    if not (isinstance(wanted, type) and (issubclass(wanted, BaseModel) or is_dataclass(wanted))):
        return _keep
    adapter: TypeAdapter[Any] = TypeAdapter(wanted)
    return lambda value, context: _check(adapter, value, (place,), context)


def _keep(value: Any, _: ToolContext) -> Any:
    return value


def _plan_keys(place: str, wanted: Any) -> Read:
    adapters = {name: adapter for name, hint in _read_hints(wanted).items() if (adapter := _adapt(hint)) is not None}

    def read(value: Any, context: ToolContext) -> Any:
        if not isinstance(value, Mapping):
            return value
        known = {name: adapter for name, adapter in adapters.items() if name in value}
        return {**value, **{name: _check(it, value[name], (place, name), context) for name, it in known.items()}}

    return read


def _read_hints(wanted: Any) -> Mapping[str, Any]:
    try:
        return get_type_hints(wanted, include_extras=True)
    except NameError:
        return {}


def _adapt(hint: Any) -> TypeAdapter[Any] | None:
    while getattr(typing.get_origin(hint), "__name__", getattr(typing.get_origin(hint), "_name", "")) in _QUALIFIERS:
        hint = typing.get_args(hint)[0]
    try:
        return TypeAdapter(hint)
    except (PydanticUserError, NameError):
        return None


_QUALIFIERS = ("Required", "NotRequired", "ReadOnly")


def _check(adapter: TypeAdapter[Any], value: Any, place: tuple[str, ...], context: ToolContext) -> Any:
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = format_path((*place, *first["loc"]))
        raise MissingContext(f"The tool cannot use what was sent as `{where}`: {first['msg']}.") from None
    except BaseException as error:  # A validator of the author's crashed.
        raise ToolExecutionError(context.tool_name, context.tool_call_id) from error
