"""A server's tools for Google's ADK: `Agent(tools=load_tools(server), ...)`."""

from typing import Any, Unpack, cast

from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from sidecall.client import remote
from sidecall.client.adapters import make_sendable, read_text
from sidecall.client.answers import CallApproval, PersonVerdict, ToolAnswer, ToolFailed
from sidecall.client.asynchronous import AsyncSidecall
from sidecall.client.blocking import Sidecall
from sidecall.client.options import ToolFilters
from sidecall.client.remote import RemoteTool, ToolOptions
from sidecall.client.runs import PersonWord, RunOptions, check_run_options, leaves_approvals, read_run

# Below such keys the session's state has what a person was asked about a call.
_ASKED = "sidecall:asked:"


def load_tools(
    server: str | Sidecall | AsyncSidecall, *, filters: ToolFilters | None = None, **options: Unpack[RunOptions]
) -> list[BaseTool]:
    """Return the server's tools.

    Functions among the options get ADK's ToolContext. Tools that read a state get the session's, unless there is a
    `state`; the conversation is the session's. A call that needs approval asks for ADK's confirmation, unless `ask` or
    `approvals` say otherwise.
    """
    wanted = check_run_options(options)
    return [ServerTool(it, wanted) for it in remote.load_tools(server, filters=filters)]


async def aload_tools(
    server: str | Sidecall | AsyncSidecall, *, filters: ToolFilters | None = None, **options: Unpack[RunOptions]
) -> list[BaseTool]:
    """Return the server's tools, without blocking the event loop while they are listed."""
    wanted = check_run_options(options)
    return [ServerTool(it, wanted) for it in await remote.aload_tools(server, filters=filters)]


class AnswerFields(dict[str, Any]):
    """What the model reads of an answer, and for callbacks of the program the answer itself, with its artifact."""

    answer: ToolAnswer


class ServerTool(BaseTool):
    """A tool that runs in a server."""

    def __init__(self, tool: RemoteTool, options: RunOptions) -> None:
        super().__init__(name=tool.name, description=tool.description)
        self.remote = tool
        self._options = options

    def _get_declaration(self) -> types.FunctionDeclaration:
        return types.FunctionDeclaration(
            name=self.name, description=self.description, parameters_json_schema=self.remote.parameters
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> AnswerFields:
        """Run the tool; a failure has its words below `error`."""
        options = read_run(self._options, tool_context, conversation=tool_context.session.id)
        if "state" not in options and self.remote.listed.get("reads_state"):
            options["state"] = make_sendable(tool_context.state.to_dict())
        confirms = leaves_approvals(self._options)
        if confirms and tool_context.tool_confirmation is not None:
            options = self._decide(options, tool_context)
        answer = await self.remote.acall(args, id=tool_context.function_call_id, **options)
        if confirms and answer.approval is not None:
            _ask(answer.approval, tool_context)
        return _show(answer)

    def _decide(self, options: ToolOptions, context: ToolContext) -> ToolOptions:
        """Return the options of a call about which the session's user has decided."""
        said: Any = context.tool_confirmation
        more = said.payload if isinstance(said.payload, dict) else {}
        changed = {key: more[key] for key in ("args", "reason") if key in more}
        verdict = PersonVerdict("approve" if said.confirmed else "reject", **changed)
        asked = context.state.get(f"{_ASKED}{context.function_call_id}")
        return cast("ToolOptions", {**options, "ask": PersonWord(self.name, asked, verdict).decide})


def _ask(approval: CallApproval, context: ToolContext) -> None:
    """Ask the session's user; their answer comes with another run of the tool, under the same id."""
    context.state[f"{_ASKED}{context.function_call_id}"] = make_sendable(approval.document)
    context.request_confirmation(hint=approval.description or approval.question, payload=approval.document)
    context.actions.skip_summarization = True


def _show(answer: ToolAnswer) -> AnswerFields:
    try:
        fields = AnswerFields(result=str(read_text(answer)))
    except ToolFailed as failed:
        fields = AnswerFields(error=str(failed))
    fields.answer = answer
    return fields
