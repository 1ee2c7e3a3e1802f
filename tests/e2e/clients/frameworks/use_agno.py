"""Run agents of agno whose tools a server has, by a scripted model; print what came of each."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from agno.agent import Agent
from agno.db.in_memory import InMemoryDb
from agno.models.base import Model
from agno.models.message import Message
from agno.models.response import ModelResponse
from agno.utils.log import logger
from deciding import wait_for_person
from recipes import run_recipe

from sidecall.client.agno import CallProgress, aload_tools, load_tools

URL = os.environ["SIDECALL_URL"]


@dataclass
class ScriptedModel(Model):
    """A model that asks for tools, turn by turn, and is done then."""

    id: str = "scripted"
    turns: list[dict[str, Any]] = field(default_factory=list)
    offered: dict[str, Any] = field(default_factory=dict)
    read: list[str] = field(default_factory=list)

    def invoke(self, messages: list[Message], *_: Any, tools: Any = None, **__: Any) -> ModelResponse:
        """Say what is next."""
        functions = [tool["function"] for tool in tools or []]
        self.offered = {it["name"]: it["parameters"] for it in functions}
        self.read = [str(message.content) for message in messages]
        if not self.turns:
            return ModelResponse(role="assistant", content="Done.")
        calls = [
            {
                "id": f"{name}.{uuid4().hex}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(args)},
            }
            for name, args in self.turns.pop(0).items()
        ]
        return ModelResponse(role="assistant", tool_calls=calls)

    async def ainvoke(self, *args: Any, **options: Any) -> ModelResponse:
        """Say what is next."""
        return self.invoke(*args, **options)

    def invoke_stream(self, *args: Any, **options: Any) -> Iterator[ModelResponse]:
        """Say what is next."""
        yield self.invoke(*args, **options)

    async def ainvoke_stream(self, *args: Any, **options: Any) -> AsyncIterator[ModelResponse]:
        """Say what is next."""
        yield self.invoke(*args, **options)

    def _parse_provider_response(self, response: Any, **_: Any) -> Any:
        return response

    _parse_provider_response_delta = _parse_provider_response


def make_agent(tools: Any, *turns: dict[str, Any], **options: Any) -> Agent:
    """Make an agent, whose session is its own."""
    model = ScriptedModel(turns=list(turns))
    return Agent(model=model, tools=tools, session_id=uuid4().hex, telemetry=False, **options)


def results(run: Any) -> list[Any]:
    """Return what the model has read, and whether it was a failure."""
    return [[it.tool_name, it.result, it.tool_call_error] for it in run.tools or []]


def keep(kept: list[Any]) -> Any:
    """Return a hook that keeps what no model reads."""

    def hook(function_name: str, function_call: Any, arguments: dict[str, Any]) -> Any:
        result = function_call(**arguments)
        kept.append([function_name, result.metadata["artifact"]])
        return result

    return hook


def decide(tools: Any, is_right: bool) -> list[Any]:
    """Pause for a person, decide, and go on."""
    agent = make_agent(tools, {"refund": {"order": 7}})
    paused = agent.run("Please.")
    status, (asked,) = paused.status, paused.active_requirements
    if is_right:
        asked.confirm()
    else:
        asked.reject("Ask for a receipt first.")
    run = agent.continue_run(run_response=paused)
    read = [message.content for message in run.messages or [] if message.role == "tool"]
    return [status, asked.tool_execution.tool_args, read, [it.tool_call_error for it in run.tools], run.content]


def refund(tools: Any, order: int) -> list[Any]:
    """Let an agent pay for an order, and return what its model reads."""
    return results(make_agent(tools, {"refund": {"order": order}}).run("Please."))


async def stream(tools: Any) -> Any:
    """Work on an event loop, and hear what happens meanwhile."""
    heard, said = [], []
    storage = {"db": InMemoryDb(), "store_events": True}
    agent = make_agent(tools, {"write": {"text": "a word"}, "draw": {}, "fail": {}}, **storage)
    async for event in agent.arun("Please.", stream=True, stream_events=True):
        if isinstance(event, CallProgress):
            heard.append(
                [
                    event.tool_call_id.partition(".")[0],
                    getattr(event.progress, "message", None) or event.progress.content,
                ]
            )
        elif event.event == "ToolCallCompleted":
            said.append([event.tool.tool_name, event.tool.result, event.tool.tool_call_error, len(event.images or [])])
    kept = agent.get_last_run_output()
    return {"heard": heard, "said": sorted(said), "kept": sum(event.event == "CustomEvent" for event in kept.events)}


async def cancel(tools: Any) -> str:
    """Cancel a run in the middle of a call."""
    task = asyncio.ensure_future(make_agent(tools, {"sleep": {"seconds": 600}}).arun("Please."))
    await asyncio.sleep(1)
    task.cancel()
    (error,) = await asyncio.gather(task, return_exceptions=True)
    return type(error).__name__


async def work_on_loop() -> dict[str, Any]:
    """Work on an event loop."""
    tools = await aload_tools(URL)
    threads = make_agent(load_tools(URL), {"find": {"query": "tea"}, "fail": {}})
    return {
        "streamed": await stream(tools),
        "cancelled": await cancel(tools),
        "threads": sorted(results(await threads.arun("Please."))),
    }


def main() -> None:
    """Print what came of all."""
    tools, kept = load_tools(URL), []
    agent = make_agent(
        tools,
        {"double": {"number": "many"}, "fail": {}},
        {"double": {"number": 4}, "find": {"query": "tea"}, "draw": {}, "repeat_number": {"number": 2**60 + 1}},
        {"recall": {"key": "key"}, "jot": {"text": "True"}, "repeat_any": {"value": None}, "configure": CLASHING},
        session_state={"key": "of the session"},
    )
    run = agent.run("Please.")
    make_agent(tools, {"find": {"query": "tea"}}, tool_hooks=[keep(kept)]).run("Please.")
    texts = make_agent(load_tools(URL, approvals="text"), {"refund": {"order": 7}, "pay_out": {"amount": 5}})
    told = {
        "listed": {name: agent.model.offered[name] for name in ("double", "jot", "order")},
        "called": results(run),
        "images": len(run.images or []),
        "artifact": kept,
        "read": [word in "".join(agent.model.read) for word in ("rows", "half")],
        "approved": decide(tools, True),
        "rejected": decide(tools, False),
        "text": results(texts.run("Please.")),
        "waited": wait_for_person(lambda order: refund(load_tools(URL, approvals="wait"), order)),
        **asyncio.run(work_on_loop()),
    }
    print(json.dumps({**told, "recipe": run_recipe()}))


CLASHING = {"runtime": "r", "config": {}, "tool_call_id": "none", "store": 1, "state": "s", "callbacks": "null"}

if __name__ == "__main__":
    logger.disabled = True
    main()
