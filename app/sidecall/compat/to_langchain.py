"""Convert tools for LangChain's models, agents and nodes in the same program."""

from collections.abc import Mapping
from typing import Any

from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool as LangChainTool
from langgraph.prebuilt import ToolRuntime
from langgraph.types import interrupt
from pydantic import BaseModel, ConfigDict

from sidecall.authoring.inprocess import ainvoke, invoke
from sidecall.authoring.inputs import Beside
from sidecall.authoring.langchain_interface import RUNTIME
from sidecall.client.adapters import make_sendable
from sidecall.client.answers import CallApproval, PersonVerdict, ToolAnswer
from sidecall.client.interrupts import GraphOutput, read_graph_output, read_resumption
from sidecall.kernel.ports.approvals.approval import ApprovalRequired
from sidecall.kernel.schema.forms.one_object import join_root


class InjectedByGraph(BaseModel):
    """What LangGraph injects, by its type, under the name RUNTIME, which no tool's parameter has."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    runtime_of_the_graph: ToolRuntime


class LangChainForm(LangChainTool):
    """A tool of this program in LangChain's form; each call goes through the tool's whole pipeline.

    Hidden parameters are filled from the graph: state, context, `configurable`, the store and the call's id.
    """

    args_schema: Any = None
    tool: Any

    def get_input_schema(self, config: RunnableConfig | None = None) -> type[BaseModel]:  # noqa: ARG002
        """Return what LangGraph injects; the tool itself validates what the model writes."""
        return InjectedByGraph

    @property
    def _injected_args_keys(self) -> frozenset[str]:
        # What is injected stays out of traces and events, where it would be a text with the whole state.
        return frozenset((RUNTIME,))

    def _to_args_and_kwargs(
        self, tool_input: str | dict[str, Any], tool_call_id: str | None
    ) -> tuple[tuple[str, ...], dict[str, Any]]:
        """Keep the model's arguments together, since their names may clash with LangChain's own parameters."""
        if isinstance(tool_input, str):
            return (), {"written": tool_input, "runtime": None, "call_id": tool_call_id}
        written = dict(tool_input)
        runtime = written.pop(RUNTIME, None)
        return (), {"written": written, "runtime": runtime, "call_id": tool_call_id}

    def _run(self, written: Any, runtime: Any, call_id: str | None, config: RunnableConfig) -> Any:
        beside = _read_runtime(runtime, config)
        if call_id is None:
            return self.tool.invoke(written, **beside)
        try:
            return _finish(invoke(self.tool.compiled, self._write_call(written, call_id), {}, beside, is_models=True))
        except ApprovalRequired as waits:
            decided = self._decide(waits, runtime, call_id)
        if isinstance(decided, ToolMessage):
            return decided
        args = written if decided.args is None else decided.args
        beside["approved"] = True
        return _finish(invoke(self.tool.compiled, self._write_call(args, call_id), {}, beside, is_models=True))

    async def _arun(self, written: Any, runtime: Any, call_id: str | None, config: RunnableConfig) -> Any:
        beside = _read_runtime(runtime, config)
        if call_id is None:
            return await self.tool.ainvoke(written, **beside)
        try:
            call = self._write_call(written, call_id)
            return _finish(await ainvoke(self.tool.compiled, call, {}, beside, is_models=True))
        except ApprovalRequired as waits:
            decided = self._decide(waits, runtime, call_id)
        if isinstance(decided, ToolMessage):
            return decided
        args = written if decided.args is None else decided.args
        beside["approved"] = True
        return _finish(await ainvoke(self.tool.compiled, self._write_call(args, call_id), {}, beside, is_models=True))

    def _write_call(self, args: Any, call_id: str) -> dict[str, Any]:
        return {"type": "tool_call", "name": self.name, "args": self.tool._name_input(args), "id": call_id}

    def _decide(self, waits: ApprovalRequired, runtime: Any, call_id: str) -> PersonVerdict | ToolMessage:
        """Interrupt the graph; return a person's decision, or the message for a rejected call."""
        if runtime is None:
            raise waits
        document = waits.approval.model_dump(mode="json", exclude_none=True)
        said = read_resumption(interrupt(document), CallApproval.read(document))
        if said is not None and said.decision == "approve":
            return said
        reason = None if said is None else said.reason
        text = f"The call was rejected{f': {reason}' if reason else '.'}"
        return ToolMessage(text, name=self.name, tool_call_id=call_id, status="error")


def make_langchain_form(tool: Any) -> LangChainForm:
    """Make the LangChain form of a tool."""
    compiled = tool.compiled
    return LangChainForm(
        name=compiled.name,
        description=compiled.description,
        args_schema=join_root(compiled.args_schema.flat),
        return_direct=compiled.options.return_direct,
        tags=list(compiled.options.tags) or None,
        metadata=dict(compiled.options.metadata) or None,
        extras=dict(tool.extras or {}) or None,
        tool=tool,
    )


# What LangGraph itself keeps in `configurable`.
_OF_THE_GRAPH = ("__", "checkpoint_")


def _read_runtime(runtime: Any, config: RunnableConfig) -> Beside:
    """Read what the graph supplies; its state and context become JSON, as over HTTP."""
    own = {name: it for name, it in config.get("configurable", {}).items() if not name.startswith(_OF_THE_GRAPH)}
    if runtime is None:
        return {"context": own}
    state = make_sendable(runtime.state)
    context = make_sendable(runtime.context)
    return {
        # A node may be given its messages alone.
        "state": {"messages": state} if isinstance(state, list) else state,
        "context": {**own, **(context if isinstance(context, Mapping) else {})},
        "store": runtime.store,
    }


def _finish(message: Any) -> GraphOutput:
    return read_graph_output(ToolAnswer.read(message.model_dump(mode="json")))
