"""Run agents of AutoGen whose tools a server has, by a scripted model; print what came of each."""

import asyncio
import json
import logging
import os
from typing import Any
from uuid import uuid4

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.conditions import MaxMessageTermination
from autogen_agentchat.messages import ToolCallExecutionEvent
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_core import AgentId, CancellationToken, FunctionCall, SingleThreadedAgentRuntime
from autogen_core.models import ChatCompletionClient, CreateResult, ModelInfo, RequestUsage
from autogen_core.tool_agent import ToolAgent, ToolExecutionException
from deciding import await_person
from recipes import run_recipe

from sidecall.client.autogen import CallAnswered, CallProgress, aload_tools, load_tools

URL = os.environ["SIDECALL_URL"]
NO_USAGE = RequestUsage(prompt_tokens=0, completion_tokens=0)


class ScriptedModel(ChatCompletionClient):
    """A model that asks for tools, turn by turn, and is done then."""

    def __init__(self, *turns: dict[str, Any]) -> None:
        self.turns = list(turns)
        self.offered: dict[str, Any] = {}
        self.read: list[Any] = []

    async def create(self, messages: Any, *, tools: Any = (), **_: Any) -> CreateResult:
        """Say what is next."""
        self.offered = {it["name"]: it["parameters"] for it in tools}
        self.read = [message.model_dump_json() for message in messages]
        content: Any = "Done."
        if self.turns:
            content = [
                FunctionCall(id=f"{name}.{uuid4().hex}", name=name, arguments=json.dumps(args))
                for name, args in self.turns.pop(0).items()
            ]
        return CreateResult(content=content, usage=NO_USAGE, cached=False, finish_reason="stop")

    def create_stream(self, *_: Any, **__: Any) -> Any:
        """Stream nothing."""
        raise NotImplementedError

    async def close(self) -> None:
        """Do nothing."""

    def actual_usage(self) -> RequestUsage:
        """Return none."""
        return NO_USAGE

    total_usage = actual_usage

    def count_tokens(self, *_: Any, **__: Any) -> int:
        """Return none."""
        return 0

    remaining_tokens = count_tokens

    @property
    def capabilities(self) -> Any:
        """What it can do."""
        return self.model_info

    @property
    def model_info(self) -> ModelInfo:
        """What it can do."""
        return ModelInfo(
            vision=True, function_calling=True, json_output=True, family="unknown", structured_output=False
        )


async def work(tools: Any, *turns: Any) -> tuple[Any, ScriptedModel]:
    """Let an agent work to its end."""
    model = ScriptedModel(*turns)
    agent = AssistantAgent("assistant", model, tools=tools, max_tool_iterations=9)
    return (await agent.run(task="Please.")).messages, model


async def work_in_team(**options: Any) -> list[Any]:
    """Let a team of one work; it passes on events of which it has been told."""
    artifacts: list[Any] = []
    tools = load_tools(URL, on_answer=lambda answer: artifacts.append(answer.artifact), **options)
    agent = AssistantAgent("assistant", ScriptedModel({"find": {"query": "tea"}, "write": {"text": "a"}}), tools=tools)
    known = [CallProgress, CallAnswered] if options else []
    team = RoundRobinGroupChat([agent], termination_condition=MaxMessageTermination(2), custom_message_types=known)
    messages = (await team.run(task="Please.")).messages
    return [list(filter(None, artifacts)), sorted({type(it).__name__ for it in messages if type(it) in known})]


def results(messages: Any) -> list[Any]:
    """Return what the model has read, and whether it was a failure."""
    events = [it for it in messages if isinstance(it, ToolCallExecutionEvent)]
    return [[result.name, result.content, result.is_error] for event in events for result in event.content]


async def refund(tools: Any, order: int) -> list[Any]:
    """Let an agent pay for an order, and return what its model reads."""
    return results((await work(tools, {"refund": {"order": order}}))[0])


async def ask_tool_agent(tools: Any) -> Any:
    """Run calls in a runtime of the core, where a session has a key."""
    runtime = SingleThreadedAgentRuntime()
    await ToolAgent.register(runtime, "tools", lambda: ToolAgent("Runs tools.", tools))
    runtime.start()
    told = []
    for name, args in (("recall", {"key": "session"}), ("double", {"number": -1})):
        call = FunctionCall(id=uuid4().hex, name=name, arguments=json.dumps(args))
        try:
            told.append((await runtime.send_message(call, AgentId("tools", "ada"))).content)
        except ToolExecutionException as error:
            told.append(["ToolExecutionException", error.content])
    await runtime.stop()
    return told


async def cancel(tools: Any) -> bool:
    """Cancel a call in the middle of its work."""
    token = CancellationToken()
    (tool,) = [it for it in tools if it.name == "sleep"]
    task = asyncio.ensure_future(tool.run_json({"seconds": 600}, token))
    await asyncio.sleep(0.3)
    token.cancel()
    (error,) = await asyncio.gather(task, return_exceptions=True)
    return isinstance(error, asyncio.CancelledError)


async def main() -> dict[str, Any]:
    """Return what came of all."""
    tools = load_tools(URL, events=True, state=lambda agent: {"session": agent.key if agent else "none"})
    messages, model = await work(
        tools,
        {"double": {"number": "many"}, "fail": {}},
        {"double": {"number": 4}, "find": {"query": "tea"}, "draw": {}, "repeat_number": {"number": 2**60 + 1}},
        {"write": {"text": "a word"}, "refund": {"order": 7}, "configure": dict.fromkeys(CLASHING, "x")},
    )
    answers = [it for it in messages if isinstance(it, CallAnswered)]
    progress = [it.progress for it in messages if isinstance(it, CallProgress)]
    accepting = await aload_tools(URL, ask=lambda approval: approval.tool_call["args"]["order"] == 7)
    return {
        "listed": {name: model.offered[name] for name in ("double", "jot", "order")},
        "called": results(messages),
        "artifact": [it.answer.artifact for it in answers if it.answer.name == "find"],
        "read": [word in "".join(model.read) for word in ("rows", "half")],
        "progress": [getattr(it, "message", None) or it.content for it in progress],
        "decided": results((await work(accepting, {"refund": {"order": 7}}, {"refund": {"order": 8}}))[0]),
        "waited": await await_person(lambda order: refund(load_tools(URL, approvals="wait"), order)),
        "core": await ask_tool_agent(tools),
        "cancelled": await cancel(tools),
        "teams": [await work_in_team(), await work_in_team(events=True)],
    }


CLASHING = ("runtime", "tool_call_id", "state", "callbacks")

if __name__ == "__main__":
    logging.disable()
    told = asyncio.run(main())
    print(json.dumps({**told, "recipe": run_recipe(model=ScriptedModel({"calculator": {"expression": "6 * 7"}}))}))
