"""A server's tools as CrewAI tools: `Agent(tools=load_tools(server), ...)`."""

from typing import Any, Unpack

from crewai.events import crewai_event_bus
from crewai.events.base_events import BaseEvent
from crewai.tools import BaseTool
from crewai.tools.tool_failure import ToolFailure, ToolFailureReason
from pydantic import PrivateAttr

from sidecall.client import remote
from sidecall.client.adapters import AnswerText, make_schema_model, name_arguments, read_text
from sidecall.client.answers import PartialAnswer, Progress, ToolAnswer
from sidecall.client.asynchronous import AsyncSidecall
from sidecall.client.blocking import Sidecall
from sidecall.client.options import ToolFilters
from sidecall.client.remote import RemoteTool, ToolOptions
from sidecall.client.runs import RunOptions, check_run_options, read_run

_REASONS = {
    "invalid_arguments": ToolFailureReason.INVALID_INPUT,
    "malformed_arguments": ToolFailureReason.INVALID_INPUT,
    "unknown_tool": ToolFailureReason.UNKNOWN_TOOL,
}


class ToolProgressEvent(BaseEvent):
    """The progress that a tool reports, on CrewAI's event bus; `content` is a part of its answer, sent early."""

    type: str = "tool_progress"
    tool_name: str
    done: float | None = None
    total: float | None = None
    message: str | None = None
    content: Any = None


def load_tools(
    server: str | Sidecall | AsyncSidecall, *, filters: ToolFilters | None = None, **options: Unpack[RunOptions]
) -> list[BaseTool]:
    """Return the server's tools, for agents and tasks.

    A call that fails is a ToolFailure. The `raw_tool_result` of hooks is a text whose `answer` has the artifact.
    Progress is a `ToolProgressEvent`. CrewAI tells a tool neither the id of the model's call nor for whom it runs: give
    `state`, `context` and `conversation` here, as values or as functions of the tool.
    """
    wanted = check_run_options(options)
    return [_make_tool(it, wanted) for it in remote.load_tools(server, filters=filters)]


def never_cache(_args: Any = None, _result: Any = None) -> bool:
    """Return False: which answers may be given again is the server's decision."""
    return False


class ServerTool(BaseTool):
    """A tool that runs in a server."""

    _remote: RemoteTool = PrivateAttr()
    _options: RunOptions = PrivateAttr()

    def _run(self, /, *values: Any, **written: Any) -> AnswerText | ToolFailure:
        return _read(self._remote.call(self._name(values, written), **self._supply()))

    async def _arun(self, /, *values: Any, **written: Any) -> AnswerText | ToolFailure:
        return _read(await self._remote.acall(self._name(values, written), **self._supply()))

    def _name(self, values: tuple[Any, ...], written: dict[str, Any]) -> dict[str, Any]:
        return name_arguments(self._remote.parameters, values, written)

    def _supply(self) -> ToolOptions:
        return {"on_progress": self._pass_on, **read_run(self._options, self)}

    def _pass_on(self, event: Progress | PartialAnswer) -> None:
        if isinstance(event, Progress):
            said: dict[str, Any] = {"done": event.done, "total": event.total, "message": event.message}
        else:
            said = {"content": event.content}
        crewai_event_bus.emit(self, ToolProgressEvent(tool_name=self.name, **said))


def _make_tool(tool: RemoteTool, options: RunOptions) -> ServerTool:
    made = ServerTool(
        name=tool.name,
        description=tool.description,
        args_schema=make_schema_model(tool.name, tool.parameters),
        result_as_answer=tool.return_direct,
        cache_function=never_cache,
    )
    made._remote, made._options = tool, options
    return made


def _read(answer: ToolAnswer) -> AnswerText | ToolFailure:
    failure = answer.failure
    if failure is None or answer.approval is not None:
        return read_text(answer)
    return ToolFailure(
        message=answer.text,
        reason=_REASONS.get(failure.kind, ToolFailureReason.TOOL_REPORTED),
        code=failure.kind,
        retryable=failure.retryable,
        details={**answer.response_metadata, "artifact": answer.artifact},
    )
