"""Run agents of CrewAI whose tools a server has, by a scripted model; print what came of each."""

import asyncio
import json
import os
from collections.abc import Callable
from typing import Any
from uuid import uuid4

from crewai import Agent, Crew, Task
from crewai.events import crewai_event_bus
from crewai.hooks import register_after_tool_call_hook
from crewai.llms.base_llm import BaseLLM
from deciding import wait_for_person
from pydantic import Field
from recipes import conclude_recipe

from sidecall.client.crewai import ToolProgressEvent, load_tools

URL = os.environ["SIDECALL_URL"]


class ScriptedModel(BaseLLM):
    """A model that asks for tools, turn by turn, and is done then."""

    turns: list[dict[str, Any]]
    offered: list[Any] = Field(default_factory=list)
    read: list[str] = Field(default_factory=list)
    calls_functions: bool = True

    def call(self, messages: Any, tools: Any = None, **_: Any) -> Any:
        """Say what is next."""
        self.offered += [tools]
        self.read += [json.dumps(messages, default=str)]
        turn = self.turns.pop(0) if self.turns else {}
        if self.calls_functions and turn:
            return [
                {"id": f"call_{uuid4().hex}", "function": {"name": name, "arguments": json.dumps(args)}}
                for name, args in turn.items()
            ]
        for name, args in turn.items():
            return f"Thought: So.\nAction: {name}\nAction Input: {json.dumps(args)}"
        return "Done." if self.calls_functions else "Thought: So.\nFinal Answer: Done."

    def supports_function_calling(self) -> bool:
        """Return whether it calls functions, or writes what to do."""
        return self.calls_functions


class Crews:
    """Lets crews work, and keeps what hooks and events say."""

    def __init__(self) -> None:
        self.raw: list[Any] = []
        self.progress: list[Any] = []
        register_after_tool_call_hook(self.keep)
        crewai_event_bus.on(ToolProgressEvent)(self.listen)

    def keep(self, context: Any) -> None:
        """Keep what a tool has returned."""
        self.raw.append(context.raw_tool_result)

    def listen(self, _source: Any, event: ToolProgressEvent) -> None:
        """Keep what a tool reports."""
        self.progress.append([event.tool_name, event.done, event.total, event.message, event.content])

    def work(self, tools: Any, *turns: dict[str, Any], calls_functions: bool = True) -> dict[str, Any]:
        """Let an agent work, and say what came of it."""
        self.raw.clear()
        model = ScriptedModel(model="scripted", turns=[*turns], calls_functions=calls_functions)
        agent = Agent(role="assistant", goal="Help.", backstory="None.", llm=model, tools=tools)
        task = Task(description="Please.", expected_output="A word.", agent=agent)
        said = Crew(agents=[agent], tasks=[task], tracing=False, memory=False).kickoff().raw
        failures = [[it.tool_name, it.failure.reason.value, it.message] for it in task.output.tool_failures]
        artifacts = [it.answer.artifact for it in self.raw if hasattr(it, "answer")]
        texts = [getattr(it, "message", str(it)) for it in self.raw]
        read, offered = model.read[-1], model.offered[0]
        return {
            "texts": texts,
            "artifacts": artifacts,
            "failures": failures,
            "read": read,
            "offered": offered,
            "said": said,
        }


def choose(told: dict[str, Any], *names: str) -> list[Any]:
    """Return some of what came of it."""
    return [told[name] for name in names]


def ask(crews: Crews, answer: Any) -> list[Any]:
    """Let an agent work whose program answers approvals so."""
    done = crews.work(load_tools(URL, ask=lambda _: answer), {"refund": {"order": 7}})
    return choose(done, "texts", "failures")


def decide(crews: Crews, told: dict[str, Any]) -> None:
    """Let the program decide about approvals, and a person elsewhere."""
    told["approved"], told["rejected"] = ask(crews, True), ask(crews, {"decision": "reject", "reason": "Too much."})
    waiting = load_tools(URL, approvals="wait")
    told["waited"] = wait_for_person(lambda order: crews.work(waiting, {"refund": {"order": order}})["texts"])


def main() -> None:
    """Try all."""
    crews, told = Crews(), dict[str, Any]()
    tools = load_tools(URL, context={"user": "Ada"}, state=lambda _: {"key": "of the state"})
    run: Callable[..., Any] = crews.work
    found = run(tools, {"find": {"query": "tea"}}, {"recall": {"key": "key"}})
    offered = {it["function"]["name"]: it["function"]["parameters"] for it in found["offered"]}
    told["listed"] = [len(offered), offered["refund"]["properties"], offered["order"]["properties"]["to"]]
    told["called"] = choose(found, "texts", "artifacts", "said")
    told["artifact"] = "rows" in found["read"]
    written = run(tools, {"find": {"query": "tea"}}, {"double": {"number": -1}}, calls_functions=False)
    told["written"] = choose(written, "texts", "artifacts", "failures", "said")
    lines = [{"article": "tea", "parts": [{"article": "cup"}]}]
    mended = run(
        tools, {"double": {"number": "four"}}, {"double": {"number": 2**70}}, {"order": {"lines": lines, "kind": None}}
    )
    told["mended"] = choose(mended, "texts", "failures")
    failed = run(tools, {"fail": {}})
    told["failed"] = [*choose(failed, "texts", "failures"), "No pencil. (code: tool_error)" in failed["read"]]
    told["waits"] = choose(run(load_tools(URL), {"refund": {"order": 7}}), "texts", "failures")
    decide(crews, told)
    # The same again is called again: CrewAI would answer from its cache.
    twice = run(tools, {"double": {"number": 4}}, {"double": {"number": 4}})
    first, second = (it.answer.tool_call_id for it in crews.raw)
    told["twice"] = [twice["texts"], first != second]
    run(tools, {"write": {"text": "two words"}})
    crewai_event_bus.flush()
    told["progress"] = crews.progress
    told["awaited"] = asyncio.run(next(it for it in tools if it.name == "jot").arun(text="tea"))
    told["recipe"] = conclude_recipe(ScriptedModel(model="scripted", turns=[{"double": {"number": 4}}]))
    print(json.dumps(told))


main()
