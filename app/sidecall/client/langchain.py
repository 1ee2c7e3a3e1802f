"""A server's tools as LangChain tools: `create_agent(model, load_tools(server), checkpointer=...)`."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langgraph.prebuilt import ToolRuntime
from pydantic import BaseModel, ConfigDict

from sidecall.client.adapters import make_sendable
from sidecall.client.answers import PartialAnswer, Progress, ToolAnswer
from sidecall.client.asynchronous import AsyncSidecall
from sidecall.client.blocking import Sidecall
from sidecall.client.failures import ApprovalNeeded, Conflicting, NotAllowed, RequestUnfit, answer_reused
from sidecall.client.interrupts import GraphStep, Resumption, read_graph_output
from sidecall.client.options import CallOptions, HearProgress, ToolFilters, check_filters


def find_listener(runtime: Any, tool: str) -> HearProgress | None:
    """Return what hears a call's progress; None if the graph streams neither `custom` nor `tools`.

    A listener of `custom` gets dicts: of the `type` "progress" with `done`, `total` and `message`, or of the `type`
    "partial" with `content`; both have the `tool` and the `tool_call_id`. In `tools`, parts are deltas of the call.
    """
    writer: Callable[[Any], Any] | None = getattr(runtime, "stream_writer", None)
    emit: Callable[[Any], Any] | None = getattr(runtime, "emit_output_delta", None) if _streams_tools(runtime) else None
    if writer is None or _does_nothing(writer):
        # A call that is followed as events takes longer, and has no key.
        return None if emit is None else _make_emitter(emit)

    def hear(event: Progress | PartialAnswer) -> None:
        writer(_describe(event, tool))
        if emit is not None and isinstance(event, PartialAnswer):
            emit(event.content)

    return hear


def _make_emitter(emit: Callable[[Any], Any]) -> HearProgress:
    return lambda event: emit(event.content) if isinstance(event, PartialAnswer) else None


def _describe(event: Progress | PartialAnswer, tool: str) -> dict[str, Any]:
    kind = "progress" if isinstance(event, Progress) else "partial"
    return {"type": kind, "tool": tool, **vars(event)}


def _nothing(_: Any) -> None: ...


def _does_nothing(writer: Callable[[Any], Any]) -> bool:
    """Return whether a writer is LangGraph's for runs without `custom`: a function with no body."""
    code = getattr(writer, "__code__", None)
    return code is not None and code.co_code == _nothing.__code__.co_code


def _streams_tools(runtime: Any) -> bool:
    handlers = getattr(runtime.config.get("callbacks"), "handlers", None) or []
    return any(type(it).__name__ == "StreamToolCallHandler" for it in handlers)


# What tools get besides their arguments: the same for all calls, or made by a function of the graph's run.
GraphContext: TypeAlias = Mapping[str, Any] | Callable[[ToolRuntime[Any, Any]], Any] | None


def load_tools(server: Sidecall, *, context: GraphContext = None, filters: ToolFilters | None = None) -> list[BaseTool]:
    """Return the server's tools, for sync and async agents.

    Tools read the graph's state, and `context`, as their authors declare; it may be a function of the ToolRuntime,
    which has the `context` and the `config` of the run. A call that needs approval interrupts the graph; resume it with
    `Command(resume=True)`, False, or `{"decision": "approve", "args": ...}`. If a person has to sign in first, the
    interrupt's `sign_in` has the `url`. With `stream_mode="custom"` the progress of calls is among the graph's events.
    """
    return [_make_tool(it, context, blocking=server) for it in server.show_tools(**_see(context, filters))]


async def aload_tools(
    server: AsyncSidecall, *, context: GraphContext = None, filters: ToolFilters | None = None
) -> list[BaseTool]:
    """Return the server's tools, for agents that are invoked with `ainvoke` and `astream`."""
    return [_make_tool(it, context, awaited=server) for it in await server.show_tools(**_see(context, filters))]


def _see(context: GraphContext, filters: ToolFilters | None) -> ToolFilters:
    return {**({"context": context} if isinstance(context, Mapping) else {}), **check_filters(filters)}


class _Injected(BaseModel):
    """What LangGraph injects, by its type, under a name that no tool's parameter has."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    runtime_of_the_graph: ToolRuntime


(_RUNTIME,) = _Injected.model_fields


class ServerTool(BaseTool):
    """A tool that runs in a server."""

    args_schema: Any = None
    context: Any = None
    reads_state: bool = True
    blocking: Any = None
    awaited: Any = None

    def get_input_schema(self, config: RunnableConfig | None = None) -> type[BaseModel]:  # noqa: ARG002
        """Return what LangGraph injects; the server validates what the model writes."""
        return _Injected

    @property
    def _injected_args_keys(self) -> frozenset[str]:
        # What is injected stays out of traces and events, where it would be a text with the whole state.
        return frozenset((_RUNTIME,))

    def _to_args_and_kwargs(
        self, tool_input: str | dict[str, Any], tool_call_id: str | None
    ) -> tuple[tuple[str, ...], dict[str, Any]]:
        """Keep the model's arguments together, since their names may clash with LangChain's own parameters."""
        runtime = tool_input.get(_RUNTIME) if isinstance(tool_input, dict) else None
        if isinstance(tool_input, str) or not isinstance(runtime, ToolRuntime):
            return (), {"written": tool_input, "runtime": None, "call_id": tool_call_id}
        written = {key: value for key, value in tool_input.items() if key != _RUNTIME}
        return (), {"written": written, "runtime": runtime, "call_id": tool_call_id}

    def _run(self, written: Any, runtime: Any, call_id: str | None, **_: Any) -> Any:
        if self.blocking is None:
            raise TypeError("these tools were loaded with AsyncSidecall: use ainvoke, or load them with Sidecall")
        call, options = self._write_call(written, runtime, call_id)
        said = self._recall(runtime)
        while True:
            try:
                return _finish(self.blocking.call(call, **_ask(said), **options), call_id)
            except (ApprovalNeeded, RequestUnfit, Conflicting, NotAllowed) as stopped:
                if (reused := answer_reused(stopped, self.name, call_id)) is not None:
                    return _finish(reused, call_id)
                if said is None:
                    raise
                said.go_on(stopped)

    async def _arun(self, written: Any, runtime: Any, call_id: str | None, **details: Any) -> Any:
        if self.awaited is None:
            return await super()._arun(written, runtime, call_id, **details)
        call, options = self._write_call(written, runtime, call_id)
        said = await self._arecall(runtime)
        while True:
            try:
                return _finish(await self.awaited.call(call, **_ask(said), **options), call_id)
            except (ApprovalNeeded, RequestUnfit, Conflicting, NotAllowed) as stopped:
                if (reused := answer_reused(stopped, self.name, call_id)) is not None:
                    return _finish(reused, call_id)
                if said is None:
                    raise
                said.go_on(stopped)

    def _recall(self, runtime: Any) -> Resumption | None:
        step = GraphStep.find(runtime)
        if step is None or not step.is_resumed:
            return None if step is None else Resumption(step)
        said = step.read(step.saver.get_tuple(step.place))
        if said.answers:
            step.saver.put_writes(*step.forgetting)
        return said

    async def _arecall(self, runtime: Any) -> Resumption | None:
        step = GraphStep.find(runtime)
        if step is None or not step.is_resumed:
            return None if step is None else Resumption(step)
        said = step.read(await step.saver.aget_tuple(step.place))
        if said.answers:
            await step.saver.aput_writes(*step.forgetting)
        return said

    def _write_call(self, written: Any, runtime: Any, call_id: str | None) -> tuple[dict[str, Any], CallOptions]:
        options: CallOptions = {}
        if runtime is not None:
            options |= {"state": make_sendable(runtime.state)} if self.reads_state else {}
            # The ids of calls come again in other threads, of models that only count them.
            thread = runtime.config.get("configurable", {}).get("thread_id")
            options |= {} if thread is None else {"conversation": str(thread)}
            listener = find_listener(runtime, self.name)
            options |= {} if listener is None else {"on_progress": listener}
        if isinstance(self.context, Mapping):
            options["context"] = self.context
        elif self.context is not None and runtime is not None:
            options["context"] = make_sendable(self.context(runtime))
        return {"type": "tool_call", "name": self.name, "args": written, "id": call_id}, options


def _make_tool(listed: Mapping[str, Any], context: GraphContext, **servers: Any) -> BaseTool:
    # Models are offered arguments that are a choice of objects as one object, which all of their APIs take.
    offered = listed["definition"].get("function", {})
    return ServerTool(
        name=listed["name"],
        description=offered.get("description", listed["description"]),
        args_schema=offered.get("parameters", listed["args_schema"]),
        return_direct=listed["return_direct"],
        tags=listed["tags"] or None,
        metadata=listed["metadata"] or None,
        extras=listed["extras"] or None,
        # Older servers do not say it.
        reads_state=listed.get("reads_state", True),
        context=context,
        **servers,
    )


def _ask(said: Resumption | None) -> CallOptions:
    """Return the `ask` function for approvals."""
    return {} if said is None else {"ask": said.decide}


def _finish(answer: ToolAnswer, call_id: str | None) -> Any:
    """Return a graph's result; a caller that has not sent a whole call gets the content alone, as from any tool."""
    return answer.content if call_id is None else read_graph_output(answer)
