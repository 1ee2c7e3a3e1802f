"""Run modules of DSPy whose tools a server has, by a scripted model; print what came of each."""

import asyncio
import json
import logging
import os
from typing import Any

import dspy
from deciding import wait_for_person
from dspy.streaming import StatusMessage
from dspy.utils.dummies import DummyLM
from recipes import conclude_recipe

from sidecall.client.dspy import load_tools

URL = os.environ["SIDECALL_URL"]


def script(*turns: tuple[str, dict[str, Any]]) -> DummyLM:
    """Return a model that asks for one tool after the other, and is done then."""
    steps = [
        {"next_thought": "So.", "next_tool_name": name, "next_tool_args": json.dumps(args)}
        for name, args in (*turns, ("finish", {}))
    ]
    return DummyLM([*steps, {"reasoning": "So.", "answer": "Done."}])


def work(tools: Any, *turns: tuple[str, dict[str, Any]], awaited: bool = False) -> dict[str, Any]:
    """Let a module work, and say what came of it."""
    model = script(*turns)
    module = dspy.ReAct("question -> answer", tools=tools).deepcopy()
    with dspy.context(lm=model):
        said = asyncio.run(module.acall(question="Please.")) if awaited else module(question="Please.")
    observed = [said.trajectory[f"observation_{index}"] for index in range(len(turns))]
    return {"observed": observed, "said": said.answer, "read": json.dumps(model.history[-1]["messages"])}


def decide(answer: Any, *turns: tuple[str, dict[str, Any]]) -> Any:
    """Let a module work whose program answers approvals so."""
    return work(load_tools(URL, ask=lambda _: answer), *turns)["observed"]


class Awaited(dspy.Module):
    """A module that is awaited."""

    def __init__(self, inner: Any) -> None:
        super().__init__()
        self.inner = inner

    async def aforward(self, **inputs: Any) -> Any:
        """Await the other one."""
        return await self.inner.acall(**inputs)


async def stream(tools: Any, *turns: tuple[str, dict[str, Any]], awaited: bool = False) -> list[str]:
    """Return the messages of the status while a module works."""
    module = dspy.ReAct("question -> answer", tools=tools)
    module = dspy.streamify(Awaited(module) if awaited else module, is_async_program=awaited)
    with dspy.context(lm=script(*turns)):
        return [it.message async for it in module(question="Please.") if isinstance(it, StatusMessage)]


def try_results(tools: Any) -> list[Any]:
    """Return what the module that calls functions makes of a failing call, and one that does not fail."""
    module = dspy.ReActV2("question -> answer", tools=tools)
    calls = dspy.ToolCalls.from_dict_list([{"name": "fail", "args": {}}, {"name": "find", "args": {"query": "tea"}}])
    results, _ = module._execute_tool_calls(calls)
    dumped = [[it["value"], it["is_error"]] for it in results.model_dump(mode="json")["tool_call_results"]]
    return [dumped, results.tool_call_results[1].value.answer.artifact]


def main() -> None:
    """Try all."""
    logging.disable(logging.CRITICAL)
    tools = load_tools(URL, context={"user": "Ada"}, state=lambda _: {"key": "of the state"})
    told: dict[str, Any] = {}
    offered = {it.name: it for it in tools}
    told["listed"] = [len(tools), offered["repeat_number"].format_as_litellm_function_call()["function"]["parameters"]]
    told["nested"] = offered["order"].args["lines"]["items"]["properties"]["parts"]["items"]
    for awaited in (False, True):
        found = work(tools, ("find", {"query": "tea"}), ("recall", {"key": "key"}), awaited=awaited)
        answers = [[it, it.answer.artifact] for it in found["observed"]]
        told[f"called {awaited}"] = [answers, found["said"], "rows" in found["read"]]
        mended = work(tools, ("double", {"number": "four"}), ("double", {"number": 2**70}), awaited=awaited)
        told[f"mended {awaited}"] = mended["observed"]
    lines = [{"article": "tea", "parts": [{"article": "cup"}]}]
    told["failed"] = work(tools, ("fail", {}), ("order", {"lines": lines, "kind": None}))["observed"]
    told["results"] = try_results(tools)
    told["waits"] = work(load_tools(URL), ("refund", {"order": 7}))["observed"]
    told["approved"] = decide(True, ("refund", {"order": 7}))
    told["rejected"] = decide({"decision": "reject", "reason": "Too much."}, ("refund", {"order": 7}))
    told["waited"] = wait_for_person(
        lambda order: work(load_tools(URL, approvals="wait"), ("refund", {"order": order}))["observed"]
    )
    told["progress"] = [
        asyncio.run(stream(tools, ("write", {"text": "two words"}), awaited=it)) for it in (False, True)
    ]
    with dspy.context(lm=script(("double", {"number": 4}))):
        told["recipe"] = conclude_recipe(None)
    print(json.dumps(told))


main()
