"""Run agents of Strands whose tools a server has, by a scripted model; print what came of each."""

import asyncio
import json
import logging
import os
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

from deciding import wait_for_person
from recipes import conclude_recipe
from strands import Agent
from strands.models.model import Model

from sidecall.client.strands import aload_tools, load_tools

URL = os.environ["SIDECALL_URL"]


class ScriptedModel(Model):
    """A model that asks for tools, turn by turn, and is done then."""

    def __init__(self, *turns: dict[str, Any], last: str = "Done.") -> None:
        self.turns = list(turns)
        self.last = last
        self.offered: dict[str, Any] = {}
        self.read: list[Any] = []

    def update_config(self, **model_config: Any) -> None:
        """Do nothing."""

    def get_config(self) -> Any:
        """Return none."""
        return {}

    def structured_output(self, output_model: Any, prompt: Any, system_prompt: Any = None, **kwargs: Any) -> Any:
        """Have none."""
        raise NotImplementedError

    async def stream(self, messages: Any, tool_specs: Any = None, *_: Any, **kwargs: Any) -> AsyncIterator[Any]:
        """Say what is next."""
        self.offered = {it["name"]: it["inputSchema"]["json"] for it in tool_specs or []}
        self.read = [part["toolResult"] for it in messages for part in it["content"] if "toolResult" in part]
        yield {"messageStart": {"role": "assistant"}}
        turn = self.turns.pop(0) if self.turns else {}
        for name, args in turn.items():
            use = {"toolUse": {"name": name, "toolUseId": f"{name}.{uuid4().hex}"}}
            yield {"contentBlockStart": {"start": use}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps(args)}}}}
            yield {"contentBlockStop": {}}
        if not turn:
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": self.last}}}
            yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use" if turn else "end_turn"}}


def make_agent(tools: Any, *turns: dict[str, Any], **options: Any) -> Agent:
    """Return an agent that says nothing by itself."""
    return Agent(model=ScriptedModel(*turns), tools=tools, callback_handler=None, **options)


def results(agent: Agent) -> list[Any]:
    """Return what the model has read."""
    assert isinstance(agent.model, ScriptedModel)
    read = sorted(agent.model.read, key=lambda it: list(agent.model.offered).index(it["toolUseId"].split(".")[0]))
    return [
        [it["toolUseId"].split(".")[0], it["status"], [part.get("text", next(iter(part))) for part in it["content"]]]
        for it in read
    ]


def decide(response: Any, tool: str = "refund", **args: Any) -> list[Any]:
    """Let a person decide about a call."""
    agent = make_agent(load_tools(URL), {tool: args})
    asked = agent("Please.")
    shown = [[it.reason["tool_call"]["name"], it.reason["tool_call"]["args"]] for it in asked.interrupts or ()]
    answers = [{"interruptResponse": {"interruptId": it.id, "response": response}} for it in asked.interrupts or ()]
    ended = agent(answers)
    return [asked.stop_reason, shown, ended.stop_reason, results(agent)]


async def hear_progress() -> list[Any]:
    """Hear what a tool reports."""
    agent = make_agent(await aload_tools(URL), {"write": {"text": "a word"}})
    heard = [it["tool_stream_event"]["data"] async for it in agent.stream_async("Please.") if "tool_stream_event" in it]
    return [getattr(it, "message", None) or it.content for it in heard if not isinstance(it, dict)]


def main() -> None:
    """Print what came of all."""
    tools = load_tools(URL, context=lambda context: {"user": context.agent.name})
    first = {"double": {"number": "many"}, "fail": {}, "find": {"query": "tea"}, "recall": {"key": "key"}, "draw": {}}
    agent = make_agent(tools, first, name="Ada", state={"key": "of the state"})
    agent("Please.")
    told = {
        "listed": agent.model.offered["double"],
        "called": results(agent),
        "artifacts": [it["metadata"]["artifact"] for it in agent.model.read if it["metadata"]["artifact"]],
        "read": "rows" in json.dumps([it["content"] for it in agent.model.read], default=str),
        "mended": work(tools, {"double": {"number": "many"}}, {"double": {"number": 4}}),
        "large": work(tools, {"repeat_number": {"number": 2**60 + 1}}),
        "approved": decide("approve", order=7),
        "changed": decide({"decision": "approve", "args": {"order": 7, "amount": 1}}, order=7),
        "rejected": decide({"decision": "reject", "reason": "Ask for a receipt first."}, order=8),
        "asks itself": decide("approve", tool="pay_out", amount=5),
        "told": work(load_tools(URL, approvals="text"), {"refund": {"order": 9}}),
        "waited": wait_for_person(lambda order: work(load_tools(URL, approvals="wait"), {"refund": {"order": order}})),
        "progress": asyncio.run(hear_progress()),
        "recipe": conclude_recipe(ScriptedModel({"calculator": {"expression": "6 * 7"}}, last="The result is 42.")),
    }
    print(json.dumps(told))


def work(tools: Any, *turns: dict[str, Any]) -> list[Any]:
    """Let an agent work to its end."""
    agent = make_agent(tools, *turns)
    agent("Please.")
    return results(agent)


if __name__ == "__main__":
    logging.disable()
    main()
