"""A server's tools as LlamaIndex tools: `FunctionAgent(tools=load_tools(server), llm=...)`."""

import base64
import inspect
import uuid
from collections.abc import Mapping
from typing import Any, Unpack, cast

from llama_index.core.base.llms.types import AudioBlock, DocumentBlock, ImageBlock, TextBlock, VideoBlock
from llama_index.core.tools import FunctionTool, ToolMetadata, ToolOutput
from llama_index.core.workflow import Context, Event, HumanResponseEvent, InputRequiredEvent
from workflows.runtime.types.results import StepWorkerStateContextVar

from sidecall.client import remote
from sidecall.client.adapters import make_schema_model, make_sendable, name_arguments
from sidecall.client.answers import CallApproval, PartialAnswer, Progress, ToolAnswer, ToolFailed
from sidecall.client.asynchronous import AsyncSidecall
from sidecall.client.blocking import Sidecall
from sidecall.client.blocks import MediaBlock, read_blocks
from sidecall.client.durable_calls import read_verdict
from sidecall.client.failures import ApprovalNeeded, Conflicting, NotAllowed, RequestUnfit
from sidecall.client.options import ToolFilters
from sidecall.client.remote import RemoteTool, ToolOptions
from sidecall.client.runs import PersonWord, RunOptions, check_run_options, leaves_approvals, read_run

# Under a name that no tool's parameter has.
_CONTEXT = "context_of_the_workflow"
# What the adapter keeps in a workflow's store, which goes along when the workflow is saved.
_KEPT = "sidecall"


def load_tools(
    server: str | Sidecall | AsyncSidecall, *, filters: ToolFilters | None = None, **options: Unpack[RunOptions]
) -> list[FunctionTool]:
    """Return the server's tools, for agents and workflows.

    Tools read the workflow's `state` as their authors declare. `state`, `context` and `conversation` may be functions
    of the workflow's Context, async or not. A call that needs approval writes an `ApprovalRequest` to the workflow's
    events and waits; send `request.answer(True)` to the workflow's context. Progress is in the events, too.
    """
    wanted = check_run_options(options)
    return [ServerTool(it, wanted) for it in remote.load_tools(server, filters=filters)]


async def aload_tools(
    server: str | Sidecall | AsyncSidecall, *, filters: ToolFilters | None = None, **options: Unpack[RunOptions]
) -> list[FunctionTool]:
    """Return the server's tools, without blocking the event loop while they are listed."""
    wanted = check_run_options(options)
    return [ServerTool(it, wanted) for it in await remote.aload_tools(server, filters=filters)]


class ApprovalRequest(InputRequiredEvent):
    """A call waits for a person's decision, or for their signing in at `approval["sign_in"]["url"]`.

    `prefix` is the question in words, `approval` the server's document of it, and `refused` says why the server has not
    taken the last answer.
    """

    prefix: str
    tool_name: str
    tool_id: str
    approval: dict[str, Any]
    waiter: str
    refused: str | None = None

    def answer(self, decision: Any) -> HumanResponseEvent:
        """Return the event that goes on with the call.

        Args:
            decision: True, False, a `PersonVerdict` or its members; None if the decision was made elsewhere.
        """
        verdict = read_verdict(decision)
        return HumanResponseEvent(waiter=self.waiter, response=None if verdict is None else verdict.body)


class ToolProgress(Event):
    """The progress that a tool reports."""

    tool_name: str
    tool_id: str
    done: float
    total: float | None = None
    message: str | None = None


class ToolPart(Event):
    """A part of an answer that a tool has sent early."""

    tool_name: str
    tool_id: str
    content: Any


class ServerTool(FunctionTool):
    """A tool that runs in a server."""

    def __init__(self, tool: RemoteTool, options: RunOptions) -> None:
        self.remote = tool
        self._options = options

        async def run(context_of_the_workflow: Context | None = None, **written: Any) -> str:
            output = await self.acall(context_of_the_workflow=context_of_the_workflow, **written)
            return str(output.content)

        run.__annotations__[_CONTEXT] = Context
        model = make_schema_model(tool.name, tool.parameters)
        super().__init__(async_fn=run, metadata=ToolMetadata(tool.description, tool.name, model, tool.return_direct))

    def call(self, /, *values: Any, **written: Any) -> ToolOutput:
        """Run the tool outside of a workflow; its `raw_output` is the answer's message, with the artifact."""
        written.pop(_CONTEXT, None)
        args = name_arguments(self.remote.parameters, values, written)
        return _read(self.remote.call(args, **read_run(self._options, None)), args)

    __call__ = call

    async def acall(self, /, *values: Any, **written: Any) -> ToolOutput:
        """Run the tool; its `raw_output` is the answer's message, with the artifact."""
        context = written.pop(_CONTEXT, None)
        args = name_arguments(self.remote.parameters, values, written)
        if context is None:
            return _read(await self.remote.acall(args, **read_run(self._options, None)), args)
        step = _WorkflowStep(context, self.remote, _find_call_id())
        return _read(await step.call(args, read_run(await _ask_functions(self._options, context), context)), args)


class _WorkflowStep:
    """The step of a workflow that makes a call; it is run again from its beginning when a person has answered."""

    def __init__(self, context: Context, tool: RemoteTool, call_id: str) -> None:
        self._context = context
        self._tool = tool
        self._call_id = call_id

    async def call(self, args: Mapping[str, Any], options: ToolOptions) -> ToolAnswer:
        """Make the call, and wait for a person if it needs one."""
        supplied = cast("ToolOptions", {**await self._supply(), **options})
        if not leaves_approvals(options):
            return await self._tool.acall(args, id=self._call_id, **supplied)
        supplied["approvals"] = "raise"
        word: PersonWord | None = None
        refused: str | None = None
        while True:
            supplied["ask"] = None if word is None else word.decide  # type: ignore[typeddict-item]
            try:
                return await self._tool.acall(args, id=self._call_id, **supplied)
            except ApprovalNeeded as needed:
                approval = needed.approvals[0]
                word, refused = await self._wait_for_person(approval, refused), None
            except (RequestUnfit, Conflicting, NotAllowed) as error:
                if word is None or not word.is_used:
                    raise
                word, refused = None, error.detail

    async def _supply(self) -> ToolOptions:
        supplied: ToolOptions = {"on_progress": self._pass_on, "conversation": await self._name_conversation()}
        if self._tool.listed.get("reads_state", True):
            supplied["state"] = make_sendable(await self._context.store.get("state", default=None))
        return supplied

    async def _name_conversation(self) -> str:
        """Return the name of this workflow's conversation: models number their calls anew in each."""
        async with self._context.store.edit_state() as kept:
            own = kept.get(_KEPT) or {"conversation": f"workflow-{uuid.uuid4().hex}", "asked": {}}
            kept[_KEPT] = own
        return cast("str", own["conversation"])

    async def _wait_for_person(self, approval: CallApproval, refused: str | None) -> PersonWord | None:
        path = f"{_KEPT}.asked.{approval.id}"
        asked = await self._context.store.get(path, default=0)
        # Each question has a name of its own: the answer to an earlier one would count for it.
        waiter = f"{approval.id}/{asked}"
        request = ApprovalRequest(
            prefix=approval.description or approval.question,
            tool_name=self._tool.name,
            tool_id=self._call_id,
            approval=approval.document,
            waiter=waiter,
            refused=refused,
        )
        response = await self._context.wait_for_event(
            HumanResponseEvent, request, waiter_id=waiter, requirements={"waiter": waiter}, timeout=None
        )
        await self._context.store.set(path, asked + 1)
        verdict = read_verdict(response.get("response"))
        return None if verdict is None else PersonWord(self._tool.name, approval.document, verdict)

    def _pass_on(self, event: Progress | PartialAnswer) -> None:
        about = {"tool_name": self._tool.name, "tool_id": self._call_id}
        if isinstance(event, Progress):
            shown: Event = ToolProgress(**about, done=event.done, total=event.total, message=event.message)
        else:
            shown = ToolPart(**about, content=event.content)
        self._context.write_event_to_stream(shown)


def _find_call_id() -> str:
    """Return the model's id of the call, which a workflow's step has and does not hand on."""
    step = StepWorkerStateContextVar.get(None)
    return str(getattr(getattr(step, "event", None), "tool_id", None) or f"call_{uuid.uuid4().hex}")


async def _ask_functions(options: RunOptions, context: Context) -> RunOptions:
    """Replace functions of the Context by what they return, which is awaited: so is most that a Context has."""
    found: dict[str, Any] = dict(options)
    for name in ("state", "context", "conversation"):
        if callable(value := found.get(name)):
            value = value(context)
            found[name] = await value if inspect.isawaitable(value) else value
    return cast("RunOptions", found)


def _read(answer: ToolAnswer, args: dict[str, Any]) -> ToolOutput:
    failed = answer.status == "error" and answer.approval is None
    return ToolOutput(
        tool_name=answer.name,
        blocks=[_make_block(it) for it in read_blocks(answer.content)],
        raw_input={"args": (), "kwargs": args},
        raw_output=answer.message,
        is_error=failed,
        exception=ToolFailed(answer) if failed else None,
    )


def _make_block(block: str | MediaBlock) -> Any:
    if isinstance(block, str):
        return TextBlock(text=block)
    data = None if block.data is None else base64.b64decode(block.data)
    match block.kind:
        case "image" if block.url or data:
            return ImageBlock(image=data, url=block.url, image_mimetype=block.type)
        case "audio" if block.url or data:
            return AudioBlock(audio=data, url=block.url)
        case "video" if block.url or data:
            return VideoBlock(video=data, url=block.url, video_mimetype=block.type)
        case "file" if block.url or data:
            return DocumentBlock(data=data, url=block.url, title=block.filename, document_mimetype=block.type)
    return TextBlock(text=f"[{block.kind}: {block.file_id or block.type}]")
