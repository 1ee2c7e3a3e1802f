"""A server's tools for Haystack: `Agent(chat_generator=..., tools=load_tools(server))`."""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Unpack, cast

from haystack.components.agents.state import State
from haystack.dataclasses import ChatMessage, FileContent, ImageContent, StreamingChunk, TextContent
from haystack.hooks.human_in_the_loop.types import ConfirmationUI
from haystack.tools import Tool
from haystack.tools.errors import ToolInvocationError

from sidecall.client import remote
from sidecall.client.answers import CallApproval, PartialAnswer, PersonVerdict, Progress, ToolAnswer, ToolFailed
from sidecall.client.asynchronous import AsyncSidecall
from sidecall.client.blocking import Sidecall
from sidecall.client.blocks import MediaBlock, read_blocks
from sidecall.client.options import ToolFilters
from sidecall.client.remote import RemoteTool, ToolOptions
from sidecall.client.runs import RunOptions, check_run_options, read_run

# A parameter that no model's argument has: by its type and its source Haystack fills it.
_RUN = "run_of_the_agent"
_CALLBACK = "streaming_callback"
# What the agent itself keeps in its state.
_RESERVED = frozenset(
    "messages step_count token_usage tool_call_counts exit_reason continue_run stop_run tools hook_context"
    " context_tokens".split()
)
# Ids of equal calls in one turn, which are told apart by their order.
_MOST = 1000


class HaystackOptions(RunOptions, total=False):
    """Options of the calls of an agent's runs.

    `confirmation_ui` is one of Haystack's, such as `SimpleConsoleUI()`, which asks the agent's user for approvals.
    `outputs_to_state` is that of Haystack's tools: "artifact" and "content" are its sources.
    """

    confirmation_ui: ConfirmationUI
    outputs_to_state: dict[str, dict[str, Any]]


def load_tools(
    server: str | Sidecall | AsyncSidecall, *, filters: ToolFilters | None = None, **options: Unpack[HaystackOptions]
) -> list[Tool]:
    """Return the server's tools, for `run` and `run_async`.

    Functions among the options get the agent's State. Tools that read a state get what the program has declared of it,
    unless there is a `state`.
    """
    return [_make_tool(it, _Loaded.of(options)) for it in remote.load_tools(server, filters=filters)]


async def aload_tools(
    server: str | Sidecall | AsyncSidecall, *, filters: ToolFilters | None = None, **options: Unpack[HaystackOptions]
) -> list[Tool]:
    """Return the server's tools, without blocking the event loop while they are listed."""
    return [_make_tool(it, _Loaded.of(options)) for it in await remote.aload_tools(server, filters=filters)]


class AnswerText(str):
    """The text of an answer for the model, and the answer itself, with its artifact."""

    answer: ToolAnswer


class AnswerParts(list[Any]):
    """The content of an answer with images or files for the model, and the answer itself, with its artifact."""

    answer: ToolAnswer


@dataclass
class ServerTool(Tool):
    """A tool that runs in a server; the model reads of a failure what the server says, and nothing else."""

    def invoke(self, /, **arguments: Any) -> Any:
        """Run the tool, whose parameters may have any names.

        Raises:
            ToolInvocationError: The call failed.
            RequestRefused: The program has to mend something, such as its credentials.
        """
        assert self.function is not None
        try:
            return self.function(**arguments)
        except ToolFailed as failed:
            raise ToolInvocationError(str(failed), tool_name=self.name) from failed

    async def invoke_async(self, /, **arguments: Any) -> Any:
        """Run the tool on an event loop; see `invoke`."""
        assert self.async_function is not None
        try:
            return await self.async_function(**arguments)
        except ToolFailed as failed:
            raise ToolInvocationError(str(failed), tool_name=self.name) from failed


@dataclass(frozen=True)
class _Loaded:
    """How tools were loaded."""

    options: RunOptions
    outputs_to_state: dict[str, dict[str, Any]] | None

    @classmethod
    def of(cls, given: HaystackOptions) -> "_Loaded":
        """Read the options.

        Raises:
            TypeError: There is an unknown one.
        """
        own: dict[str, Any] = dict(given)
        ui, outputs = own.pop("confirmation_ui", None), own.pop("outputs_to_state", None)
        if ui is not None:
            own["ask"] = _Asking(ui).decide
        return cls(check_run_options(cast("RunOptions", own)), outputs)


@dataclass(frozen=True)
class _Asking:
    """Asks a person by a confirmation of Haystack."""

    ui: ConfirmationUI

    def decide(self, approval: CallApproval) -> PersonVerdict | None:
        """Return what they say; a sign-in is not theirs to decide here."""
        if approval.sign_in is not None:
            return None
        call = approval.tool_call
        said = self.ui.get_user_confirmation(call["name"], approval.description or "", call.get("args") or {})
        if said.action == "confirm":
            return PersonVerdict("approve")
        if said.action == "modify":
            return PersonVerdict("approve", said.new_tool_params)
        return PersonVerdict("reject", reason=said.feedback)


def _make_tool(tool: RemoteTool, loaded: _Loaded) -> Tool:
    call = _ServerCall(tool, loaded.options)

    def run(run_of_the_agent: Any = None, streaming_callback: Any = None, **written: Any) -> dict[str, Any]:
        args, call_id, options = call.read(run_of_the_agent, streaming_callback, written)
        return _keep(tool.call(args, id=call_id, **options))

    async def run_async(run_of_the_agent: Any = None, streaming_callback: Any = None, **written: Any) -> dict[str, Any]:
        args, call_id, options = call.read(run_of_the_agent, streaming_callback, written)
        return _keep(await tool.acall(args, id=call_id, **options))

    if call.wants_state:
        # Haystack runs tools with the state one after the other, so the others get the messages alone.
        run.__annotations__[_RUN] = run_async.__annotations__[_RUN] = State
    return ServerTool(
        name=tool.name,
        description=tool.description,
        parameters=tool.parameters,
        function=run,
        async_function=run_async,
        inputs_from_state=None if call.wants_state else {"messages": _RUN},
        outputs_to_string={"handler": _show},
        outputs_to_state=loaded.outputs_to_state,
    )


@dataclass(frozen=True)
class _ServerCall:
    """Reads the calls of one tool."""

    tool: RemoteTool
    options: RunOptions
    taken: deque[str] = field(default_factory=lambda: deque(maxlen=_MOST))
    # An agent runs tools in threads.
    lock: Any = field(default_factory=Lock)

    @property
    def wants_state(self) -> bool:
        """Whether calls need the agent's state."""
        of_run = (self.options.get(key) for key in ("state", "context", "conversation"))
        return bool(self.tool.listed.get("reads_state")) or any(map(callable, of_run))

    def read(self, run: Any, callback: Any, written: dict[str, Any]) -> tuple[dict[str, Any], str | None, ToolOptions]:
        """Return the arguments, id and options of a call."""
        state = run if isinstance(run, State) else None
        messages: list[ChatMessage] = state.data.get("messages", []) if state is not None else _read_messages(run)
        if state is None and run and not messages:  # A model made this name up.
            written = {**written, _RUN: run}
        options = read_run(self.options, state)
        if state is not None and "state" not in options:
            declared = {key: value for key, value in state.data.items() if key not in _RESERVED}
            options |= read_run({"state": declared}, state)
        if callable(callback):
            options.setdefault("on_progress", _pass_on(callback))
        elif callback is not None:  # The tool has a parameter of this name.
            written = {**written, _CALLBACK: callback}
        return written, self._find_id(messages, written), options

    def _find_id(self, messages: list[ChatMessage], args: Mapping[str, Any]) -> str | None:
        """Find the id of a call, which Haystack tells no tool, by what the model has written."""
        last = next((it for it in reversed(messages) if it.tool_calls), None)
        calls = [] if last is None else last.tool_calls
        ids: list[str] = [it.id for it in calls if it.id and it.tool_name == self.tool.name and it.arguments == args]
        if len(ids) < 2:
            return ids[0] if ids else None
        with self.lock:
            found = next((it for it in ids if it not in self.taken), ids[0])
            self.taken.append(found)
        return found


def _read_messages(given: Any) -> list[ChatMessage]:
    return [it for it in given if isinstance(it, ChatMessage)] if isinstance(given, list) else []


def _pass_on(callback: Callable[[StreamingChunk], Any]) -> Callable[[Progress | PartialAnswer], Any]:
    """Pass progress to the agent's streaming callback, in the `meta` of chunks without content."""
    return lambda event: callback(StreamingChunk(content="", meta={"tool_progress": event}))


def _keep(answer: ToolAnswer) -> dict[str, Any]:
    artifact = {} if answer.artifact is None else {"artifact": answer.artifact}
    return {"content": answer.raise_for_status().content, **artifact, "answer": answer}


def _show(result: Mapping[str, Any]) -> AnswerText | AnswerParts:
    """Return what the model reads."""
    answer: ToolAnswer = result["answer"]
    parts = [_show_block(block) for block in read_blocks(answer.content)]
    is_text = all(isinstance(it, TextContent) for it in parts)
    shown = AnswerText(answer.text) if is_text else AnswerParts(parts)
    shown.answer = answer
    return shown


def _show_block(block: str | MediaBlock) -> Any:
    if isinstance(block, str):
        return TextContent(block)
    if block.data is not None:
        try:
            if block.kind == "image":
                return ImageContent(block.data, block.type)
            return FileContent(block.data, block.type, block.filename)
        except ValueError:  # No type that Haystack knows.
            pass
    return TextContent(block.words)
