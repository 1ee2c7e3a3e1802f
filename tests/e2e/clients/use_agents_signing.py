"""Run agents of the OpenAI Agents SDK at once whose person has to sign in; print what the model of each has read."""

import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx
from agents import (
    Agent,
    ModelResponse,
    RunConfig,
    Runner,
    RunState,
    SQLiteSession,
    ToolExecutionConfig,
    Usage,
    function_tool,
)
from agents.tracing import set_tracing_disabled
from openai.types.responses import ResponseFunctionToolCall

from sidecall.client import AsyncSidecall
from sidecall.client.agents import aload_tools
from tests.e2e.clients.use_agents import ScriptedModel, outputs
from tests.kit.callers.provider import PUBLIC_URL, Browser
from tests.kit.callers.waiting import wait_for_answer

HERE = httpx.URL(os.environ["SIDECALL_URL"])


class Gateway(httpx.AsyncHTTPTransport):
    """Reaches the server under its public name."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Go where it listens."""
        there = request.url.copy_with(host=HERE.host, port=HERE.port)
        sent = httpx.Request(request.method, there, headers=request.headers, stream=request.stream)
        sent.extensions = request.extensions
        return await super().handle_async_request(sent)


class Asking(ScriptedModel):
    """A model that asks for tools, so many times in a turn, and may wait before it does."""

    def __init__(self, *turns: list[tuple[str, dict[str, Any]]] | Callable[[], Awaitable[Any]]) -> None:
        super().__init__()
        self.script = list(turns)

    async def get_response(self, *_: Any, **__: Any) -> ModelResponse:
        """Say what is next."""
        while self.script and callable(self.script[0]):
            await self.script.pop(0)()
        if not self.script:
            return await super().get_response()
        calls = [
            ResponseFunctionToolCall(type="function_call", call_id=uuid4().hex, name=name, arguments=json.dumps(args))
            for name, args in self.script.pop(0)
        ]
        return ModelResponse(output=[*calls], usage=Usage(), response_id=None)


@function_tool(needs_approval=True)
def sign_off() -> str:
    """Sign off."""
    return "signed off"


@dataclass
class Meeting:
    """Where all runs are when nobody has signed in, and when somebody has."""

    tools: list[Any]
    before: asyncio.Barrier
    after: asyncio.Barrier

    async def wait(self) -> None:
        """Wait until somebody has signed in."""
        await self.before.wait()
        await self.after.wait()

    async def run(self, script: list[Any], said: Any = "Please.", user: str = "Ada", **options: Any) -> Any:
        """Let an agent work."""
        agent = Agent("assistant", tools=[*self.tools, sign_off], model=Asking(*script))
        return agent, await Runner.run(agent, said, context={"user": user}, **options)


def note(text: str) -> tuple[str, dict[str, Any]]:
    """Write what asks for a note."""
    return "note", {"text": text}


def read(result: Any) -> list[str]:
    """Return what the model has read."""
    return ["link" if "/oauth/start" in output else output for _, output, _ in outputs(result)]


async def go_on(meeting: Meeting, text: str, user: str) -> list[str]:
    """Ask in a run, and again in one that goes on from its history."""
    _, led = await meeting.run([[note(text)]], user=user)
    await meeting.wait()
    said = [*led.to_input_list(), {"role": "user", "content": "I have."}]
    return read(led) + read((await meeting.run([[note(text)]], said, user))[1])


async def stay(meeting: Meeting, text: str) -> list[str]:
    """Ask twice in one run."""
    return read((await meeting.run([[note(text)], meeting.wait, [note(text)]]))[1])


async def remember(meeting: Meeting, text: str, **options: Any) -> list[str]:
    """Ask in two runs, of which the second one gets no history."""
    _, led = await meeting.run([[note(text)]], **options)
    await meeting.wait()
    return read(led) + read((await meeting.run([[note(text)]], **options))[1])


async def keep(meeting: Meeting, text: str) -> list[str]:
    """Ask in a run that is kept as text, and goes on elsewhere."""
    agent, stopped = await meeting.run([[note(text)], [("sign_off", {})], [note(text)]])
    await meeting.wait()
    state = await RunState.from_string(agent, stopped.to_state().to_string())
    for interruption in state.get_interruptions():
        state.approve(interruption)
    return read(await Runner.run(agent, state))


async def ask_twice(meeting: Meeting, text: str) -> list[str]:
    """Ask for the same in one message twice, one after the other, and so again."""
    config = RunConfig(tool_execution=ToolExecutionConfig(max_function_tool_concurrency=1))
    both = [note(text), note(text)]
    return read((await meeting.run([both, meeting.wait, both], run_config=config))[1])


async def ask_through(meeting: Meeting, text: str, **options: Any) -> list[str]:
    """Ask through an agent that is a tool of another one, in two runs."""

    async def read_inside(result: Any) -> str:
        return read(result)[0]

    heard = []
    for is_second in (False, True):
        if is_second:
            await meeting.wait()
        noter = Agent("noter", tools=meeting.tools, model=Asking([note(text)]))
        tool = noter.as_tool("ask", "Ask.", custom_output_extractor=read_inside)
        agent = Agent("assistant", tools=[tool], model=Asking([("ask", {"input": "Please."})]))
        heard += read(await Runner.run(agent, "Please.", context={"user": "Ada"}, **options))
    return heard


async def come_late(meeting: Meeting, text: str) -> list[str]:
    """Ask for the first time when others wait for the same."""
    await meeting.wait()
    return read((await meeting.run([[note(text)]]))[1])


WAYS: dict[str, Callable[[Meeting], Awaitable[list[str]]]] = {
    "Ada": lambda it: go_on(it, "tea", "Ada"),
    "Bob": lambda it: go_on(it, "tea", "Bob"),
    "Ada elsewhere": lambda it: go_on(it, "tea", "Ada"),
    "one run": lambda it: stay(it, "tea"),
    "another run": lambda it: stay(it, "tea"),
    "session": lambda it: remember(it, "tea", session=SQLiteSession("chat")),
    "group": lambda it: remember(it, "tea", run_config=RunConfig(group_id="chat_7")),
    "through": lambda it: ask_through(it, "tea", run_config=RunConfig(group_id="chat_8")),
    "kept": lambda it: keep(it, "tea"),
    "both": lambda it: ask_twice(it, "tea"),
    "late": lambda it: come_late(it, "tea"),
}


async def main() -> None:
    """Try all."""
    set_tracing_disabled(True)
    async with (
        httpx.AsyncClient(transport=Gateway(), base_url=PUBLIC_URL) as outside,
        AsyncSidecall(PUBLIC_URL, transport=Gateway()) as server,
    ):
        tools = await aload_tools(server, context=lambda run: run.context)
        meeting = Meeting(tools, asyncio.Barrier(len(WAYS) + 1), asyncio.Barrier(len(WAYS) + 1))
        async with asyncio.TaskGroup() as group:
            runs = [group.create_task(way(meeting)) for way in WAYS.values()]
            await meeting.before.wait()
            # Each call has a link, and any will do.
            waiting = await server.approvals.list()
            await Browser(outside).sign_in(waiting[0].sign_in.url)
            for approval in waiting:
                await wait_for_answer(outside, approval.id)
            await meeting.after.wait()
        print(json.dumps(dict(zip(WAYS, [run.result() for run in runs], strict=True))))


if __name__ == "__main__":
    asyncio.run(main())
