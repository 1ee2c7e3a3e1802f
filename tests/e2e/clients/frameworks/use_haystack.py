"""Run agents of Haystack whose tools a server has, by a scripted model; print what came of each."""

import asyncio
import copy
import json
import logging
import os
from typing import Any
from uuid import uuid4

from deciding import wait_for_person
from haystack import component
from haystack.components.agents import Agent
from haystack.dataclasses import ChatMessage, StreamingChunk, ToolCall
from haystack.hooks.human_in_the_loop.dataclasses import ConfirmationUIResult
from recipes import run_recipe

from sidecall.client import NotAuthenticated, RequestUnfit
from sidecall.client.haystack import aload_tools, load_tools

URL = os.environ["SIDECALL_URL"]


@component
class ScriptedModel:
    """A model that asks for tools, turn by turn, and is done then."""

    def __init__(self, *turns: Any) -> None:
        self.turns = list(turns)
        self.offered: dict[str, Any] = {}
        self.read: list[str] = []

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage], tools: Any = None, streaming_callback: Any = None) -> dict[str, Any]:
        """Say what is next."""
        self.offered = {tool.name: tool.tool_spec["parameters"] for tool in tools or []}
        self.read = [json.dumps(message.to_dict()) for message in messages]
        if not self.turns:
            return {"replies": [ChatMessage.from_assistant("Done.")]}
        turn = self.turns.pop(0)
        pairs = turn.items() if isinstance(turn, dict) else turn
        calls = [ToolCall(name, args, id=f"{name}.{uuid4().hex}") for name, args in pairs]
        return {"replies": [ChatMessage.from_assistant(tool_calls=calls)]}

    @component.output_types(replies=list[ChatMessage])
    async def run_async(
        self, messages: list[ChatMessage], tools: Any = None, streaming_callback: Any = None
    ) -> dict[str, Any]:
        """Say what is next."""
        return self.run(messages, tools)


class Person:
    """Confirms, changes or rejects refunds by their orders."""

    def get_user_confirmation(self, tool_name: str, tool_description: str, tool_params: Any) -> ConfirmationUIResult:
        """Return what a person says."""
        if tool_params.get("order") == 8:
            return ConfirmationUIResult("reject", "Ask for a receipt first.")
        if tool_params.get("order") == 9:
            return ConfirmationUIResult("modify", new_tool_params={"order": 9, "amount": 1})
        return ConfirmationUIResult("confirm")


def work(tools: Any, *turns: Any, **options: Any) -> tuple[dict[str, Any], ScriptedModel]:
    """Let an agent work to its end."""
    model = ScriptedModel(*turns)
    made = {key: options.pop(key) for key in ("state_schema", "tool_streaming_callback_passthrough") if key in options}
    agent = Agent(chat_generator=model, tools=tools, **made)
    return agent.run([ChatMessage.from_user("Please.")], **options), model


def results(run: dict[str, Any]) -> list[Any]:
    """Return what the model has read, and whether it was a failure."""
    said = [it.tool_call_result for it in run["messages"] if it.tool_call_result is not None]
    return [[it.origin.tool_name, it.result, it.error] for it in said]


def refund(tools: Any, order: int) -> list[Any]:
    """Let an agent pay for an order, and return what its model reads."""
    return results(work(tools, {"refund": {"order": order}})[0])


def answers(run: dict[str, Any]) -> list[Any]:
    """Return the answers, which no model reads."""
    said = [it.tool_call_result.result for it in run["messages"] if it.tool_call_result is not None]
    return [copy.deepcopy(it).answer for it in said if hasattr(it, "answer")]


def own_ids(run: dict[str, Any]) -> bool:
    """Return whether each call went with its own id."""
    said = [it.tool_call_result for it in run["messages"] if it.tool_call_result is not None]
    return sorted(it.origin.id for it in said) == sorted(it.result.answer.tool_call_id for it in said)


def refuse(**options: Any) -> str:
    """Let the server refuse what the program has to mend."""
    try:
        work(load_tools(URL, **options), {"double": {"number": 1}})
    except (NotAuthenticated, RequestUnfit) as error:
        return type(error).__name__
    return "not seen"


async def work_on_loop() -> list[Any]:
    """Work on an event loop."""
    heard = []

    async def hear(chunk: StreamingChunk) -> None:
        if "tool_progress" in chunk.meta:
            event = chunk.meta["tool_progress"]
            heard.append(getattr(event, "message", None) or event.content)

    model = ScriptedModel({"write": {"text": "a word"}, "fail": {}})
    agent = Agent(chat_generator=model, tools=await aload_tools(URL), tool_streaming_callback_passthrough=True)
    run = await agent.run_async([ChatMessage.from_user("Please.")], streaming_callback=hear)
    return [results(run), heard]


def work_much() -> dict[str, Any]:
    """Let the model call one tool after the other, and mend what was refused."""
    tools = load_tools(URL, outputs_to_state={"found": {"source": "artifact"}})
    run, model = work(tools, *TURNS, state_schema=SCHEMA, key="of the state")
    (double,) = [it for it in tools if it.name == "double"]
    return {
        "listed": {name: model.offered[name] for name in ("double", "jot", "order")},
        "called": [[name, show(result), error] for name, result, error in results(run)],
        "artifact": [it.artifact for it in answers(run) if it.artifact is not None][:1],
        "found": run["found"],
        "read": [word in "".join(model.read) for word in ("rows", "half")],
        "directly": double.invoke(number=4)["content"],
    }


def show(result: Any) -> Any:
    """Return a text, or the types of parts."""
    return result if isinstance(result, str) else [type(part).__name__ for part in result]


def work_with_equal_calls() -> list[Any]:
    """Call a tool several times in one turn, with the same arguments."""
    tools = load_tools(URL, context=lambda state: {"user": state.data["key"]})
    run, _ = work(tools, [("find", {"query": "tea"})] * 3, state_schema=SCHEMA, key="Ada")
    apart, _ = work(load_tools(URL), [("jot", {"text": "tea"})] * 3)
    return [results(run), own_ids(run), own_ids(apart)]


def hear_progress() -> list[Any]:
    """Hear what tools report."""
    heard: list[Any] = []
    passing = {"tool_streaming_callback_passthrough": True, "streaming_callback": heard.append}
    work(load_tools(URL), {"write": {"text": "a word"}}, **passing)
    events = [chunk.meta["tool_progress"] for chunk in heard if "tool_progress" in chunk.meta]
    return [getattr(it, "message", None) or it.content for it in events]


def main() -> None:
    """Print what came of all."""
    asking = load_tools(URL, confirmation_ui=Person())
    decided, _ = work(asking, *({"refund": {"order": order}} for order in (7, 8, 9)), {"pay_out": {"amount": 5}})
    told = {
        **work_much(),
        "equal": work_with_equal_calls(),
        "decided": results(decided),
        "waited": wait_for_person(lambda order: refund(load_tools(URL, approvals="wait"), order)),
        "progress": hear_progress(),
        "loop": asyncio.run(work_on_loop()),
        "refused": refuse(timeout=0),
        "recipe": run_recipe(),
    }
    print(json.dumps(told))


CLASHING = {"runtime": "r", "config": {}, "tool_call_id": "none", "store": 1, "state": "s", "callbacks": "null"}
SCHEMA = {"key": {"type": str}, "found": {"type": list}}
TURNS = (
    {"double": {"number": "many"}, "fail": {}},
    {"double": {"number": 4}, "find": {"query": "tea"}, "draw": {}, "repeat_number": {"number": 2**60 + 1}},
    {"recall": {"key": "key"}, "jot": {"text": "True"}, "repeat_any": {"value": None}, "configure": CLASHING},
    {"refund": {"order": 7}, "pay_out": {"amount": 5}},
)

if __name__ == "__main__":
    logging.disable()
    main()
