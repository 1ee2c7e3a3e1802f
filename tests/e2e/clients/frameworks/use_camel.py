"""Run agents of CAMEL whose tools a server has, by a scripted model; print what came of each."""

import asyncio
import json
import logging
import os
from typing import Any
from uuid import uuid4

from camel.agents import ChatAgent
from camel.models.stub_model import StubModel
from camel.types import ChatCompletion, ModelType
from deciding import wait_for_person
from recipes import conclude_recipe

from sidecall.client.camel import load_tools

URL = os.environ["SIDECALL_URL"]


class ScriptedModel(StubModel):
    """A model that asks for tools, turn by turn, and is done then."""

    def __init__(self, *turns: dict[str, Any]) -> None:
        super().__init__(ModelType.STUB)
        self.turns = list(turns)
        self.offered: Any = None
        self.read: list[Any] = []

    def _run(self, messages: Any, response_format: Any = None, tools: Any = None) -> Any:
        self.offered, self.read = tools, messages
        calls = [
            {"id": f"call_{uuid4().hex}", "type": "function", "function": {"name": name, "arguments": json.dumps(args)}}
            for name, args in (self.turns.pop(0) if self.turns else {}).items()
        ]
        said = {"role": "assistant", "content": None if calls else "Done.", "tool_calls": calls or None}
        choice = {"index": 0, "finish_reason": "tool_calls" if calls else "stop", "message": said}
        whole = {"id": "1", "object": "chat.completion", "created": 0, "model": "scripted", "choices": [choice]}
        return ChatCompletion.model_validate(whole)

    async def _arun(self, *args: Any, **options: Any) -> Any:
        return self._run(*args, **options)


def work(tools: Any, *turns: dict[str, Any], awaited: bool = False) -> dict[str, Any]:
    """Let an agent work, and say what came of it."""
    model = ScriptedModel(*turns)
    agent = ChatAgent("Help.", model=model, tools=tools).clone()
    response = asyncio.run(agent.astep("Please.")) if awaited else agent.step("Please.")
    records = response.info["tool_calls"]
    read = [it["content"] for it in model.read if it["role"] == "tool"]
    return {"records": records, "said": response.msg.content, "read": read, "model": model}


def decide(answer: Any, *turns: Any) -> Any:
    """Let an agent work whose program answers approvals so."""
    done = work(load_tools(URL, ask=lambda _: answer), *turns)
    return [str(it.result) for it in done["records"]]


def main() -> None:
    """Try all."""
    logging.disable(logging.CRITICAL)
    tools = load_tools(URL, context={"user": "Ada"}, state=lambda _: {"key": "of the state"})
    told: dict[str, Any] = {}
    for awaited in (False, True):
        found = work(tools, {"find": {"query": "tea"}, "recall": {"key": "key"}}, awaited=awaited)
        answers = [[it.result, it.result.answer.artifact] for it in found["records"]]
        told[f"called {awaited}"] = [answers, found["said"], any("rows" in it for it in found["read"])]
        failed = work(
            tools, {"fail": {}}, {"double": {"number": "four"}}, {"double": {"number": 2**70}}, awaited=awaited
        )
        told[f"failed {awaited}"] = failed["read"]
    offered = {it["function"]["name"]: it["function"] for it in found["model"].offered}
    told["listed"] = [len(offered), offered["repeat_number"]["parameters"]]
    ordered = work(tools, {"order": {"lines": [{"article": "tea", "parts": [{"article": "cup"}]}], "kind": None}})
    told["nested"] = ordered["read"]
    told["waits"] = work(load_tools(URL), {"refund": {"order": 7}})["records"][0].result
    told["approved"] = decide(True, {"refund": {"order": 7}})
    told["rejected"] = decide({"decision": "reject", "reason": "Too much."}, {"refund": {"order": 7}})
    told["waited"] = wait_for_person(
        lambda order: work(load_tools(URL, approvals="wait"), {"refund": {"order": order}})["read"]
    )
    drawn = work(tools, {"draw": {}})
    told["drawn"] = [drawn["read"], drawn["records"][0].result.images]
    parts: list[Any] = []
    work(load_tools(URL, on_progress=parts.append), {"write": {"text": "two words"}})
    told["progress"] = [str(getattr(it, "message", None) or it.content) for it in parts]
    told["recipe"] = conclude_recipe(ScriptedModel({"double": {"number": 4}}))
    print(json.dumps(told))


main()
