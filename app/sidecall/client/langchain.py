"""The tools of a server as tools of LangChain: `create_agent(model, load_tools(server), checkpointer=...)`."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeAlias

from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langgraph.prebuilt import ToolRuntime
from langgraph.types import Command, Send, interrupt
from pydantic import BaseModel, ConfigDict
from pydantic_core import to_jsonable_python

from sidecall.client.answers import CallApproval, PersonVerdict, ToolAnswer
from sidecall.client.asynchronous import AsyncSidecall
from sidecall.client.blocking import Sidecall
from sidecall.client.failures import ApprovalNeeded, RequestUnfit
from sidecall.client.options import CallOptions, ToolFilters
from sidecall.client.remembered import read_verdict

# An answer as graphs take it.
GraphOutput: TypeAlias = ToolMessage | Command[Any] | list[Command[Any] | ToolMessage]


def load_tools(
    server: Sidecall, *, context: Mapping[str, Any] | None = None, filters: ToolFilters | None = None
) -> list[BaseTool]:
    """Return the server's tools, for agents that are invoked either way.

    Tools read the graph's state, and `context`, as their authors have said. A call that a person has to approve
    interrupts the graph; it goes on with `Command(resume=True)`, False, or `{"decision": "approve", "args": ...}`. So
    does one whose person has to sign in first, at the `url` of the interrupt's `sign_in`.
    """
    return [_make_tool(it, context, blocking=server) for it in server.show_tools(**_see(context, filters))]


async def aload_tools(
    server: AsyncSidecall, *, context: Mapping[str, Any] | None = None, filters: ToolFilters | None = None
) -> list[BaseTool]:
    """Return the server's tools, for agents that are invoked with `ainvoke` and `astream`."""
    return [_make_tool(it, context, awaited=server) for it in await server.show_tools(**_see(context, filters))]


def _see(context: Mapping[str, Any] | None, filters: ToolFilters | None) -> ToolFilters:
    return {**({} if context is None else {"context": context}), **(filters or {})}


class _Injected(BaseModel):
    """What LangGraph is to fill in."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    runtime: ToolRuntime


class ServerTool(BaseTool):
    """A tool that runs in a server."""

    args_schema: Any = None
    context: Mapping[str, Any] | None = None
    blocking: Any = None
    awaited: Any = None

    def get_input_schema(self, config: RunnableConfig | None = None) -> type[BaseModel]:  # noqa: ARG002
        """Return what LangGraph has to inject; the server checks what the model writes."""
        return _Injected

    def _to_args_and_kwargs(
        self, tool_input: str | dict[str, Any], tool_call_id: str | None
    ) -> tuple[tuple[str, ...], dict[str, Any]]:
        """Keep what the model wrote in one piece, lest its names meet those of LangChain's own parameters."""
        if isinstance(tool_input, str):
            return (), {"written": tool_input, "runtime": None, "call_id": tool_call_id}
        runtime = tool_input.get("runtime")
        if not isinstance(runtime, ToolRuntime):
            return (), {"written": tool_input, "runtime": None, "call_id": tool_call_id}
        written = {key: value for key, value in tool_input.items() if key != "runtime"}
        return (), {"written": written, "runtime": runtime, "call_id": tool_call_id}

    def _run(self, written: Any, runtime: Any, call_id: str | None, **_: Any) -> Any:
        if self.blocking is None:
            raise TypeError("these tools were loaded with AsyncSidecall: use ainvoke, or load them with Sidecall")
        asking = _Asking()
        call, options = self._write_call(written, runtime, call_id, asking)
        while True:
            try:
                return _finish(self.blocking.call(call, **options), call_id)
            except ApprovalNeeded:
                # It was resumed without a decision, and nobody else has decided: the graph stops here again.
                if runtime is None:
                    raise
            except RequestUnfit as error:
                if not asking.hear(error):
                    raise

    async def _arun(self, written: Any, runtime: Any, call_id: str | None, **details: Any) -> Any:
        if self.awaited is None:
            return await super()._arun(written, runtime, call_id, **details)
        asking = _Asking()
        call, options = self._write_call(written, runtime, call_id, asking)
        while True:
            try:
                return _finish(await self.awaited.call(call, **options), call_id)
            except ApprovalNeeded:
                if runtime is None:
                    raise
            except RequestUnfit as error:
                if not asking.hear(error):
                    raise

    def _write_call(
        self, written: Any, runtime: Any, call_id: str | None, asking: "_Asking"
    ) -> tuple[dict[str, Any], CallOptions]:
        options: CallOptions = {"ask": asking} if runtime is not None else {}
        if runtime is not None:
            options["state"] = to_jsonable_python(runtime.state, fallback=str)
        if self.context is not None:
            options["context"] = self.context
        return {"type": "tool_call", "name": self.name, "args": written, "id": call_id}, options


def _make_tool(listed: Mapping[str, Any], context: Mapping[str, Any] | None, **servers: Any) -> BaseTool:
    return ServerTool(
        name=listed["name"],
        description=listed["description"],
        args_schema=listed["args_schema"],
        return_direct=listed["return_direct"],
        tags=listed["tags"] or None,
        metadata=listed["metadata"] or None,
        extras=listed["extras"] or None,
        context=context,
        **servers,
    )


class _Asking:
    """Stop the graph for a person, and again, with the reason, where what it is resumed with is no decision.

    LangGraph keeps each value that a graph was resumed with: after an error it would come again for ever.
    """

    def __init__(self) -> None:
        self._why: str | None = None
        self._has_decided = False

    def __call__(self, approval: CallApproval) -> PersonVerdict | None:
        """Return what a person has decided."""
        while True:
            refused = {} if self._why is None else {"refused": self._why}
            said = interrupt({**approval.document, **refused})
            try:
                verdict = read_resumption(said, approval)
            except ValueError as error:
                self._why = str(error)
            else:
                self._has_decided = verdict is not None
                return verdict

    def hear(self, error: RequestUnfit) -> bool:
        """Return whether an error is about what a person has decided, who is asked again then."""
        decided, self._has_decided = self._has_decided, False
        self._why = error.detail if decided else None
        return decided


def read_resumption(said: Any, approval: CallApproval) -> PersonVerdict | None:
    """Read what a graph was resumed with: our forms, or those of LangChain's HumanInTheLoopMiddleware.

    Raises:
        ValueError: It is none of them, or asks for what a server cannot do.
    """
    if isinstance(said, Mapping) and isinstance(decisions := said.get("decisions"), list):
        if len(decisions) != 1:
            raise ValueError(f"This is about one call, and there are {len(decisions)} decisions; give one.")
        said = decisions[0]
    if isinstance(said, Mapping) and "type" in said:
        return _read_human_decision(said, approval)
    if said is None or isinstance(said, bool | PersonVerdict) or _is_verdict(said):
        return read_verdict(said)
    raise ValueError(
        'Resume with True, False, {"decision": "approve", "args": ...}, {"decision": "reject", "reason": ...}, or as '
        f"HumanInTheLoopMiddleware is resumed, not with {said!r:.100}."
    )


def _is_verdict(said: Any) -> bool:
    members = {field.name for field in fields(PersonVerdict)}
    return isinstance(said, Mapping) and "decision" in said and members.issuperset(said)


def _read_human_decision(said: Mapping[str, Any], approval: CallApproval) -> PersonVerdict:
    match said:
        case {"type": "approve"}:
            return PersonVerdict("approve")
        case {"type": "edit", "edited_action": {"name": str(name), "args": dict(args)}}:
            if name != approval.tool_call["name"]:
                raise ValueError(f"A person can change the arguments of {approval.tool_call['name']}, not its name.")
            return PersonVerdict("approve", args)
        case {"type": "reject"}:
            return PersonVerdict("reject", reason=said.get("message"))
        case {"type": "respond"}:
            raise ValueError(
                "A person cannot answer in a tool's place here: reject the call, with the answer as message."
            )
    raise ValueError(f"This is no decision of HumanInTheLoopMiddleware: {said!r:.100}")


def _finish(answer: ToolAnswer, call_id: str | None) -> Any:
    """Return what graphs take; who has not sent a whole call gets the content alone, as of every tool."""
    return answer.content if call_id is None else read_graph_output(answer)


def read_graph_output(answer: ToolAnswer) -> GraphOutput:
    """Return the message of an answer, or the Command that the tool has returned, which brings the message along."""
    message = ToolMessage(**answer.message)
    asked = answer.response_metadata
    if "commands" in asked:
        first, *others = asked["commands"]
        return [_make_command(first, [message]), *(_make_command(other, []) for other in others)]
    return _make_command(asked, [message]) if "state_update" in asked else message


def _make_command(asked: Mapping[str, Any], messages: list[ToolMessage]) -> Command[Any]:
    update = asked.get("state_update") or {}
    goto = asked.get("goto") or []
    steps = [Send(**step) if isinstance(step, dict) else step for step in (goto if isinstance(goto, list) else [goto])]
    said = [*messages, *update.get("messages", [])]
    return Command(
        update={**update, **({"messages": said} if said else {})},
        goto=steps,
        graph=asked.get("graph"),
        resume=asked.get("resume"),
    )
