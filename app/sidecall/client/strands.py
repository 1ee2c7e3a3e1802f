"""A server's tools for Strands: `Agent(tools=load_tools(server))`."""

import asyncio
import base64
from collections.abc import AsyncIterator, Mapping
from typing import Any, Unpack, cast

from strands.types.tools import AgentTool, ToolContext, ToolSpec, ToolUse

from sidecall.client import remote
from sidecall.client.adapters import make_sendable
from sidecall.client.answers import CallApproval, PartialAnswer, PersonVerdict, Progress, ToolAnswer
from sidecall.client.asynchronous import AsyncSidecall
from sidecall.client.blocking import Sidecall
from sidecall.client.blocks import MediaBlock, read_blocks
from sidecall.client.durable_calls import read_verdict
from sidecall.client.options import ToolFilters
from sidecall.client.remote import RemoteTool, ToolOptions
from sidecall.client.runs import PersonWord, RunOptions, check_run_options, leaves_approvals, read_run

_FORMATS: Mapping[str, str] = {"image/png": "png", "image/jpeg": "jpeg", "image/gif": "gif", "image/webp": "webp"}
_WORDS: Mapping[str, bool] = {"approve": True, "reject": False}


def load_tools(
    server: str | Sidecall | AsyncSidecall, *, filters: ToolFilters | None = None, **options: Unpack[RunOptions]
) -> list[AgentTool]:
    """Return the server's tools.

    Functions among the options get Strands' ToolContext. Tools that read a state get the agent's, unless there is a
    `state`. A call that needs approval interrupts the agent, unless `ask` or `approvals` say otherwise; answer with
    "approve", "reject", or the members of a `PersonVerdict`. Progress is in the events of the agent's stream.
    """
    wanted = check_run_options(options)
    return [ServerTool(it, wanted) for it in remote.load_tools(server, filters=filters)]


async def aload_tools(
    server: str | Sidecall | AsyncSidecall, *, filters: ToolFilters | None = None, **options: Unpack[RunOptions]
) -> list[AgentTool]:
    """Return the server's tools, without blocking the event loop while they are listed."""
    wanted = check_run_options(options)
    return [ServerTool(it, wanted) for it in await remote.aload_tools(server, filters=filters)]


class ServerTool(AgentTool):
    """A tool that runs in a server."""

    def __init__(self, tool: RemoteTool, options: RunOptions) -> None:
        super().__init__()
        self.remote = tool
        self._options = options

    @property
    def tool_name(self) -> str:
        """Its name."""
        return self.remote.name

    @property
    def tool_spec(self) -> ToolSpec:
        """What the model is offered."""
        return {
            "name": self.remote.name,
            "description": self.remote.description,
            "inputSchema": {"json": self.remote.parameters},
        }

    @property
    def tool_type(self) -> str:
        """What Strands calls this kind of tool."""
        return "sidecall"

    async def stream(self, tool_use: ToolUse, invocation_state: dict[str, Any], **_: Any) -> AsyncIterator[Any]:
        """Run the tool: yield its progress, then the result, or an interrupt that asks for a decision."""
        context = ToolContext(tool_use, invocation_state.get("agent"), invocation_state)
        options = self._read_options(context)
        interrupts = context.agent is not None and leaves_approvals(self._options)
        while True:
            task, heard = self._begin(tool_use, options)
            try:
                while (event := await heard.get()) is not None:
                    yield event
                answer = await task
            finally:
                task.cancel()
            if answer.approval is None or not interrupts:
                break
            # Strands ends the run by an exception, and runs the tool again when there is an answer.
            if (verdict := _ask(context, answer.approval)) is None:
                break
            options["ask"] = PersonWord(self.remote.name, answer.approval.document, verdict).decide
        yield _show(answer, tool_use["toolUseId"])

    def _read_options(self, context: ToolContext) -> ToolOptions:
        options = read_run(self._options, context)
        state = getattr(context.agent, "state", None)
        if "state" not in options and state is not None and self.remote.listed.get("reads_state"):
            options["state"] = make_sendable(state.get())
        return options

    def _begin(
        self, tool_use: ToolUse, options: ToolOptions
    ) -> tuple[asyncio.Future[ToolAnswer], asyncio.Queue[Progress | PartialAnswer | None]]:
        heard: asyncio.Queue[Progress | PartialAnswer | None] = asyncio.Queue()
        wanted = cast("ToolOptions", {"on_progress": heard.put_nowait, **options})
        task = asyncio.ensure_future(self.remote.acall(tool_use["input"], id=tool_use["toolUseId"], **wanted))
        task.add_done_callback(lambda _: heard.put_nowait(None))
        return task, heard


def _ask(context: ToolContext, approval: CallApproval) -> PersonVerdict | None:
    """Return the decision of the agent's user.

    Raises:
        InterruptException: They have not been asked yet.
    """
    # Each question has a name of its own: the answer to an earlier one would count for it.
    name = f"sidecall:{approval.id}:{approval.document.get('question', 0)}"
    said = context.interrupt(name, reason=approval.document)
    return read_verdict(_WORDS.get(said, said) if isinstance(said, str) else said)


def _show(answer: ToolAnswer, call_id: str) -> dict[str, Any]:
    """Return a result: the model reads its content, the program its metadata."""
    waits = answer.approval is not None
    return {
        "toolUseId": call_id,
        "status": "success" if waits else answer.status,
        "content": [_make_content(it) for it in read_blocks(answer.content)],
        "metadata": {"artifact": answer.artifact, **answer.response_metadata},
    }


def _make_content(block: str | MediaBlock) -> dict[str, Any]:
    if isinstance(block, str):
        return {"text": block}
    if block.type in _FORMATS and block.data is not None:
        return {"image": {"format": _FORMATS[block.type], "source": {"bytes": base64.b64decode(block.data)}}}
    return {"text": block.words}
