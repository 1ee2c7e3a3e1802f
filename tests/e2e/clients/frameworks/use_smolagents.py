"""Run agents of smolagents whose tools a server has, by a scripted model; print what came of each."""

import json
import os
from typing import Any
from uuid import uuid4

from deciding import wait_for_person
from recipes import conclude_recipe
from smolagents import CodeAgent, Model, ToolCallingAgent
from smolagents.models import ChatMessage, ChatMessageToolCall, ChatMessageToolCallFunction, get_tool_json_schema

from sidecall.client import ToolAnswer
from sidecall.client.smolagents import load_tools, write_inputs

URL = os.environ["SIDECALL_URL"]


class ScriptedModel(Model):
    """A model that asks for tools, or writes code, turn by turn, and is done then."""

    def __init__(self, *turns: Any) -> None:
        super().__init__(model_id="scripted")
        self.turns = list(turns)
        self.read: list[str] = []

    def generate(self, messages: Any, **_: Any) -> ChatMessage:
        """Say what is next."""
        self.read.append(str(messages[-1].content))
        turn = self.turns.pop(0) if self.turns else {"final_answer": {"answer": "Done."}}
        if isinstance(turn, str):
            return ChatMessage(role="assistant", content=f"<code>\n{turn}\n</code>")
        calls = [
            ChatMessageToolCall(ChatMessageToolCallFunction(args, name), f"call_{uuid4().hex}", "function")
            for name, args in turn.items()
        ]
        return ChatMessage(role="assistant", content="", tool_calls=calls)


def work(tools: Any, *turns: Any, kind: Any = ToolCallingAgent) -> dict[str, Any]:
    """Let an agent work, and say what came of it."""
    model = ScriptedModel(*turns)
    agent = kind(tools=tools, model=model, verbosity_level=0)
    said = agent.run("Please.")
    steps = [it for it in agent.memory.steps if hasattr(it, "observations")]
    errors = [[type(it.error).__name__, it.error.message] for it in steps if it.error]
    return {"said": str(said), "observed": [it.observations for it in steps], "errors": errors, "read": model.read}


def decide(answer: Any, *turns: Any) -> Any:
    """Let an agent work whose program answers approvals so."""
    done = work(load_tools(URL, ask=lambda _: answer), *turns)
    return [done["observed"][0], done["errors"]]


def decide_elsewhere(tools: Any, order: int) -> Any:
    """Let an agent work that waits for a person elsewhere."""
    done = work(tools, {"refund": {"order": order}})
    return [done["observed"][0], done["errors"]]


def describe(told: dict[str, Any], tools: Any) -> None:
    """Say how parameters are offered."""
    offered = {it.name: get_tool_json_schema(it)["function"]["parameters"] for it in tools}
    told["listed"] = [len(tools), offered["repeat_number"], offered["repeat_any"]]
    told["nested"] = offered["order"]["properties"]["lines"]["items"]["properties"]["parts"]["items"]
    choices = {"value": {"anyOf": [{"type": "string"}, {"enum": [1.5, None]}], "default": "all"}}
    told["choices"] = write_inputs({"properties": choices})


def main() -> None:
    """Try all."""
    heard: list[ToolAnswer] = []
    tools = load_tools(URL, context={"user": "Ada"}, state=lambda _: {"key": "of the state"}, on_answer=heard.append)
    told: dict[str, Any] = {}
    describe(told, tools)
    found = work(tools, {"find": {"query": "tea"}, "recall": {"key": "key"}})
    told["called"] = [sorted(found["observed"][0].splitlines()), found["said"], found["errors"]]
    told["artifact"] = [[it.artifact for it in heard if it.name == "find"], any("rows" in it for it in found["read"])]
    mended = work(tools, {"double": {"number": "four"}}, {"double": {"number": 2**70}}, {"double": {}})
    told["mended"] = [mended["observed"][:2], mended["errors"]]
    lines = {"lines": [{"article": "tea", "amount": 0}]}
    told["refused there"] = work(tools, {"order": lines}, {"order": {"lines": [{"article": "tea"}], "kind": None}})
    failed = work(tools, {"fail": {}})
    told["failed"] = [failed["errors"], "No pencil." in failed["read"][-1]]
    told["waits"] = work(load_tools(URL), {"refund": {"order": 7}})["observed"][0]
    told["approved"] = decide(True, {"refund": {"order": 7}})
    told["rejected"] = decide({"decision": "reject", "reason": "Too much."}, {"refund": {"order": 7}})
    waiting = load_tools(URL, approvals="wait")
    told["waited"] = wait_for_person(lambda order: decide_elsewhere(waiting, order))
    code = "found = find(query='tea')\nprint(found, double(21), order([{'article': 'tea'}]))\nfinal_answer(found)"
    told["code"] = [work(tools, code, kind=CodeAgent)[key] for key in ("said", "errors")]
    hidden = work(tools, "print(find(query='tea').answer.artifact)", "final_answer('over')", kind=CodeAgent)
    told["hidden"] = [hidden["said"], [name for name, _ in hidden["errors"]]]
    told["painted"] = work(tools, {"paint": {}})["observed"][0]
    parts: list[Any] = []
    work(load_tools(URL, on_progress=parts.append), {"write": {"text": "two words"}})
    told["progress"] = [str(getattr(it, "message", None) or it.content) for it in parts]
    told["recipe"] = conclude_recipe(ScriptedModel({"double": {"number": 4}}))
    print(json.dumps(told))


main()
