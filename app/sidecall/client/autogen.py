"""A server's tools for AutoGen: `AssistantAgent("assistant", model, tools=load_tools(server))`."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any, Unpack, cast

from autogen_core import AgentId, CancellationToken, MessageHandlerContext
from autogen_core.tools import BaseStreamTool, BaseTool, ToolSchema
from pydantic import BaseModel

from sidecall.client import remote
from sidecall.client.answers import PartialAnswer, Progress, ToolAnswer
from sidecall.client.asynchronous import AsyncSidecall
from sidecall.client.blocking import Sidecall
from sidecall.client.options import ToolFilters
from sidecall.client.remote import RemoteTool, ToolOptions
from sidecall.client.runs import RunOptions, check_run_options, read_run

try:  # AgentChat passes on events of its own kind only.
    from autogen_agentchat.messages import BaseAgentEvent
except ImportError:
    BaseAgentEvent = BaseModel


class AutoGenOptions(RunOptions, total=False):
    """Options of the calls of agents.

    `on_answer` is a function of each answer, with the artifact that no model reads. With `events`, progress and answers
    are also events of AgentChat's agents; a team has to be told of them: `custom_message_types=[CallProgress,
    CallAnswered]`.
    """

    on_answer: Callable[[ToolAnswer], Any]
    events: bool


def load_tools(
    server: str | Sidecall | AsyncSidecall, *, filters: ToolFilters | None = None, **options: Unpack[AutoGenOptions]
) -> list[BaseTool[Any, Any]]:
    """Return the server's tools.

    Functions among the options get the AgentId of the agent that handles a message, whose `key` tells conversations
    apart; None outside of a runtime. AutoGen cannot ask a person about a call: `ask` and `approvals` can.
    """
    make = _choose(options)
    return [make(it) for it in remote.load_tools(server, filters=filters)]


async def aload_tools(
    server: str | Sidecall | AsyncSidecall, *, filters: ToolFilters | None = None, **options: Unpack[AutoGenOptions]
) -> list[BaseTool[Any, Any]]:
    """Return the server's tools, without blocking the event loop while they are listed."""
    make = _choose(options)
    return [make(it) for it in await remote.aload_tools(server, filters=filters)]


class CallProgress(BaseAgentEvent):
    """Progress of a call, or a part of its content, in `progress`."""

    source: str
    progress: Any

    def to_text(self) -> str:
        """Return what happens, for a console."""
        event = self.progress
        return f"{event.message or ''} {event.done:g}" if isinstance(event, Progress) else str(event.content)


class CallAnswered(BaseAgentEvent):
    """The answer to a call, with the artifact and all else that no model reads."""

    source: str
    answer: ToolAnswer

    def to_text(self) -> str:
        """Return the content, for a console."""
        return self.answer.text


class _AnyArguments(BaseModel, extra="allow", defer_build=True):
    """What a model writes; the server checks it, and words what is wrong for the model."""


class ServerTool(BaseTool[_AnyArguments, Any]):
    """A tool that runs in a server. Its result is the ToolAnswer; the model reads the answer's text."""

    def __init__(self, tool: RemoteTool, options: RunOptions, on_answer: Callable[[ToolAnswer], Any] | None) -> None:
        super().__init__(_AnyArguments, ToolAnswer, tool.name, tool.description)
        self._tool = tool
        self._options = options
        self._on_answer = on_answer

    @property
    def schema(self) -> ToolSchema:
        """The tool for models."""
        schema = {"name": self.name, "description": self.description, "parameters": self._tool.parameters}
        return cast("ToolSchema", {**schema, "strict": False})

    def return_value_as_string(self, value: Any) -> str:
        """Return what the model reads."""
        return value.text if isinstance(value, ToolAnswer) else super().return_value_as_string(value)

    async def run(self, args: _AnyArguments, cancellation_token: CancellationToken) -> ToolAnswer:
        """Run the tool.

        Raises:
            ToolFailed: The call failed; the text is for the model.
        """
        return await self.run_json(args.model_dump(), cancellation_token)

    async def run_json(
        self, args: Mapping[str, Any], cancellation_token: CancellationToken, call_id: str | None = None
    ) -> ToolAnswer:
        """Run the tool; see `run`."""
        options = self._supply()
        return (await self._call((args, cancellation_token, call_id), options)).raise_for_status()

    async def _call(
        self, call: tuple[Mapping[str, Any], CancellationToken, str | None], options: ToolOptions
    ) -> ToolAnswer:
        args, token, call_id = call
        task = asyncio.ensure_future(self._tool.acall(dict(args), id=call_id, **options))
        token.link_future(task)
        answer = await task
        if self._on_answer is not None:
            self._on_answer(answer)
        return answer

    def _supply(self) -> ToolOptions:
        agent = _find_agent()
        # All that is said to an agent without a key of its own has this one.
        conversation = None if agent is None or agent.key == "default" else agent.key
        return read_run(self._options, agent, conversation=conversation)


class EventTool(ServerTool, BaseStreamTool[_AnyArguments, Any, Any]):
    """A tool that runs in a server, with events."""

    async def run_stream(self, args: _AnyArguments, cancellation_token: CancellationToken) -> AsyncGenerator[Any, None]:
        """Run the tool, and yield its progress and its answer."""
        async for event in self.run_json_stream(args.model_dump(), cancellation_token):
            yield event

    async def run_json_stream(
        self, args: Mapping[str, Any], cancellation_token: CancellationToken, call_id: str | None = None
    ) -> AsyncGenerator[Any, None]:
        """Run the tool, and yield its progress, an event with the answer, and the answer itself.

        Raises:
            ToolFailed: The call failed; the text is for the model.
        """
        heard: asyncio.Queue[Progress | PartialAnswer | None] = asyncio.Queue()
        options = self._supply()
        options.setdefault("on_progress", heard.put_nowait)
        task = asyncio.ensure_future(self._call((args, cancellation_token, call_id), options))
        task.add_done_callback(lambda _: heard.put_nowait(None))
        try:
            while (event := await heard.get()) is not None:
                yield CallProgress(source=self.name, progress=event)
            answer = await task
            yield CallAnswered(source=self.name, answer=answer)
            yield answer.raise_for_status()
        finally:
            task.cancel()


def _choose(given: AutoGenOptions) -> Callable[[RemoteTool], ServerTool]:
    own: dict[str, Any] = dict(given)
    kind, on_answer = (EventTool if own.pop("events", False) else ServerTool), own.pop("on_answer", None)
    options = check_run_options(cast("RunOptions", own))
    return lambda tool: kind(tool, options, on_answer)


def _find_agent() -> AgentId | None:
    try:
        return MessageHandlerContext.agent_id()
    except RuntimeError:
        return None
