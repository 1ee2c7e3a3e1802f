"""A server's tools as tools of DSPy: `dspy.ReAct("question -> answer", tools=load_tools(server))`."""

from types import TracebackType
from typing import Any, Self, Unpack

from dspy import Tool
from dspy.dsp.utils.settings import settings
from dspy.streaming.messages import StatusMessage, sync_send_to_stream
from dspy.utils.callback import with_callbacks
from pydantic import PrivateAttr

from sidecall.client import remote
from sidecall.client.adapters import AnswerText, inline_properties, read_text
from sidecall.client.answers import PartialAnswer, Progress, ToolAnswer, ToolFailed
from sidecall.client.asynchronous import AsyncSidecall
from sidecall.client.blocking import Sidecall
from sidecall.client.options import ToolFilters
from sidecall.client.remote import RemoteTool, ToolOptions
from sidecall.client.runs import RunOptions, check_run_options, read_run


def load_tools(
    server: str | Sidecall | AsyncSidecall, *, filters: ToolFilters | None = None, **options: Unpack[RunOptions]
) -> list[Tool]:
    """Return the server's tools, for ReAct and other modules.

    What tools return is a text whose `answer` has the artifact: a trajectory keeps it. DSPy tells a tool neither the id
    of the model's call nor for whom it runs: give `state`, `context` and `conversation` here, as values or as functions
    of the tool. A call that fails raises; one that waits for a person is a text for the model, unless `ask` or
    `approvals` say otherwise. Progress is a StatusMessage of a program that is streamed.
    """
    wanted = check_run_options(options)
    return [ServerTool(it, wanted) for it in remote.load_tools(server, filters=filters)]


class CallFailed(ToolFailed):
    """A call failed. It has no traceback: modules of DSPy show five frames of one to the model."""

    @property
    def __traceback__(self) -> TracebackType | None:
        return None

    @__traceback__.setter
    def __traceback__(self, _traceback: TracebackType | None) -> None:
        """Leave it out."""


class ServerTool(Tool):
    """A tool that runs in a server."""

    _remote: RemoteTool = PrivateAttr()
    _options: RunOptions = PrivateAttr()

    def __init__(self, tool: RemoteTool, options: RunOptions) -> None:
        def run(**written: Any) -> AnswerText:
            return _read(tool.call(written, **self._supply()))

        # With no types the arguments stay as they are.
        properties = inline_properties(tool.parameters)
        super().__init__(run, name=tool.name, desc=tool.description, args=properties, arg_types={})
        self._remote, self._options = tool, options

    def __deepcopy__(self, _memo: dict[int, Any]) -> Self:
        """Return itself: optimizers copy programs, and a connection cannot be copied."""
        return self

    def _validate_and_parse_args(self, **written: Any) -> dict[str, Any]:
        """Return the arguments: the server checks them, and words what is wrong for the model."""
        return written

    @with_callbacks
    async def acall(self, **written: Any) -> AnswerText:
        """Run the tool, on an event loop.

        Raises:
            CallFailed: The call failed; the model reads why.
        """
        supplied = self._supply()
        if (stream := settings.send_stream) is not None and "on_progress" not in self._options:
            # Sent from here, since the stream is of this event loop.
            supplied["on_progress"] = lambda event: stream.send(_describe(self.name, event))
        return _read(await self._remote.acall(written, **supplied))

    def format_as_litellm_function_call(self) -> dict[str, Any]:
        """Return the definition, with the parameters as the server lists them."""
        parameters = {"type": "object", "properties": {}, **self._remote.parameters}
        return {"type": "function", "function": {"name": self.name, "description": self.desc, "parameters": parameters}}

    def _supply(self) -> ToolOptions:
        supplied = read_run(self._options, self)
        stream = settings.send_stream
        if stream is not None and "on_progress" not in supplied:
            supplied["on_progress"] = lambda event: sync_send_to_stream(stream, _describe(self.name, event))
        return supplied


def _describe(name: str | None, event: Progress | PartialAnswer) -> StatusMessage:
    if isinstance(event, PartialAnswer):
        return StatusMessage(f"{name}: {event.content}")
    share = f"{event.done:g}" if event.total is None else f"{event.done:g}/{event.total:g}"
    return StatusMessage(" ".join(filter(None, (f"{name}: {share}", event.message))))


def _read(answer: ToolAnswer) -> AnswerText:
    if answer.status == "error" and answer.approval is None:
        raise CallFailed(answer) from None
    return read_text(answer)
