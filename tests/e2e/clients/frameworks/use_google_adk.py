"""Run agents of Google's ADK whose tools a server has, by a scripted model; print what came of each."""

import asyncio
import json
import logging
import os
from collections.abc import AsyncGenerator
from typing import Any
from uuid import uuid4

from deciding import await_person
from google.adk.agents import Agent
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types

from sidecall.client.google_adk import load_tools

URL = os.environ["SIDECALL_URL"]
CONFIRM = "adk_request_confirmation"


class ScriptedModel(BaseLlm):
    """A model that asks for tools, turn by turn, and is done then."""

    model: str = "scripted"
    turns: list[Any]
    offered: dict[str, Any]
    read: list[Any]

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> AsyncGenerator[Any, None]:
        """Say what is next."""
        for it in llm_request.config.tools or []:
            self.offered.update({one.name: one.parameters_json_schema for one in it.function_declarations})
        parts = [part for content in llm_request.contents for part in content.parts or []]
        self.read = [it.function_response for it in parts if it.function_response is not None]
        said = [types.Part(text="Done.")]
        if self.turns:
            calls = [
                types.FunctionCall(id=f"{name}.{uuid4().hex}", name=name, args=args)
                for name, args in self.turns.pop(0).items()
            ]
            said = [types.Part(function_call=it) for it in calls]
        yield LlmResponse(content=types.Content(role="model", parts=said))


class Run:
    """A session of an agent with a scripted model."""

    def __init__(self, tools: Any, *turns: dict[str, Any], state: Any = None) -> None:
        self.model = ScriptedModel(turns=list(turns), offered={}, read=[])
        self.seen: list[Any] = []
        agent = Agent(name="ada", model=self.model, tools=tools, after_tool_callback=self._see)
        self.runner = InMemoryRunner(agent=agent, app_name="tried")
        self.session: Any = None
        self.state = state

    def _see(self, tool: Any, args: Any, tool_context: Any, tool_response: Any) -> None:
        self.seen.append([tool.name, tool_response.answer.artifact, tool_context.function_call_id])

    async def go_on(self, part: types.Part) -> list[Any]:
        """Say something to the agent, and return the confirmations that it asks for."""
        if self.session is None:
            service = self.runner.session_service
            self.session = await service.create_session(app_name="tried", user_id="u", state=self.state)
        message = types.Content(role="user", parts=[part])
        asked = []
        async for event in self.runner.run_async(user_id="u", session_id=self.session.id, new_message=message):
            asked += [it for it in event.get_function_calls() if it.name == CONFIRM]
        return asked

    @property
    def results(self) -> list[Any]:
        """What the model has read."""
        return [[it.name, it.response] for it in self.model.read]


PLEASE = types.Part(text="Please.")


async def work(tools: Any, *turns: dict[str, Any], state: Any = None) -> Run:
    """Let an agent work to its end."""
    run = Run(tools, *turns, state=state)
    await run.go_on(PLEASE)
    return run


async def decide(tool: str, args: Any, **said: Any) -> list[Any]:
    """Let a person decide about a call."""
    run = Run(load_tools(URL), {tool: args})
    (asked,) = await run.go_on(PLEASE)
    shown = asked.args["toolConfirmation"]["payload"]["tool_call"]
    answer = types.FunctionResponse(id=asked.id, name=CONFIRM, response=said)
    left = await run.go_on(types.Part(function_response=answer))
    return [[shown["name"], shown["args"]], len(left), run.results[-1:]]


async def refund(tools: Any, order: int) -> list[Any]:
    """Let an agent pay for an order, and return what its model reads."""
    return (await work(tools, {"refund": {"order": order}})).results


async def main() -> None:
    """Print what came of all."""
    tools = load_tools(URL, context=lambda context: {"user": context.agent_name})
    first = {"double": {"number": "many"}, "fail": {}, "find": {"query": "tea"}, "recall": {"key": "key"}}
    run = await work(tools, first, state={"key": "of the state"})
    mended = await work(tools, {"double": {"number": "many"}}, {"double": {"number": 4}})
    told = {
        "listed": run.model.offered["double"],
        "called": run.results,
        "seen": [[name, artifact] for name, artifact, _ in run.seen if artifact is not None],
        "ids": all(call_id.startswith(f"{name}.") for name, _, call_id in run.seen),
        "mended": mended.results,
        "large": (await work(tools, {"repeat_number": {"number": 2**60 + 1}})).results,
        "approved": await decide("refund", {"order": 7}, confirmed=True),
        "changed": await decide("refund", {"order": 7}, confirmed=True, payload={"args": {"order": 7, "amount": 1}}),
        "rejected": await decide("refund", {"order": 8}, confirmed=False, payload={"reason": "Ask for a receipt."}),
        "asks itself": await decide("pay_out", {"amount": 5}, confirmed=True),
        "waited": await await_person(lambda order: refund(load_tools(URL, approvals="wait"), order)),
        "told": (await work(load_tools(URL, approvals="text"), {"refund": {"order": 9}})).results,
    }
    print(json.dumps(told))


if __name__ == "__main__":
    logging.disable()
    asyncio.run(main())
