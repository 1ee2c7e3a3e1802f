"""Run agents of LlamaIndex whose tools a server has, by a scripted model; print what came of each."""

import asyncio
import json
import os
from typing import Any
from uuid import uuid4

from deciding import await_person
from llama_index.core.agent.workflow import FunctionAgent, ToolCallResult
from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.llms import ChatMessage
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.tools import call_tool_with_selection
from llama_index.core.tools.types import ToolOutput
from llama_index.core.workflow import Context
from recipes import conclude_recipe

from sidecall.client.llama_index import ApprovalRequest, ToolPart, ToolProgress, aload_tools, load_tools

URL = os.environ["SIDECALL_URL"]


def script(*turns: dict[str, Any]) -> tuple[MockFunctionCallingLLM, list[str]]:
    """Return a model that calls the tools of each turn, and what it reads."""
    left, read = list(turns), list[str]()

    def answer(messages: Any, **_: Any) -> ChatMessage:
        read.extend(str(it.model_dump()) for it in messages if it.role == "tool")
        if not left:
            return ChatMessage(role="assistant", content="Done.")
        calls = [
            ToolCallBlock(tool_call_id=f"{name}_{uuid4().hex}", tool_name=name, tool_kwargs=args)
            for name, args in left.pop(0).items()
        ]
        return ChatMessage(role="assistant", blocks=calls)

    return MockFunctionCallingLLM(response_generator=answer), read


async def work(tools: Any, *turns: dict[str, Any], decide: Any = (), state: Any = None) -> dict[str, Any]:
    """Let an agent work, and say what came of it; a person decides in this order."""
    model, read = script(*turns)
    agent = FunctionAgent(tools=tools, llm=model, initial_state=state or {})
    handler = agent.run(user_msg="Please.", ctx=Context(agent))
    told: dict[str, Any] = {"results": [], "progress": [], "asked": [], "read": read}
    left = list(decide)
    async for event in handler.stream_events():
        match event:
            case ToolCallResult():
                told["results"].append(show(event.tool_output))
                told["own id"] = event.tool_id == event.tool_output.raw_output["tool_call_id"]
            case ToolProgress():
                told["progress"].append([event.tool_name, event.done, event.total, event.message])
            case ToolPart():
                told["progress"].append(event.content)
            case ApprovalRequest():
                told["asked"].append([event.tool_name, event.approval["tool_call"]["args"], event.refused])
                handler.ctx.send_event(event.answer(left.pop(0)))
    return {**told, "said": str(await handler)}


def show(output: ToolOutput) -> list[Any]:
    """Return what a tool has answered: content, artifact, and the failure, if it is one."""
    failure = type(output.exception).__name__ if output.is_error else None
    return [output.content, output.raw_output["artifact"], failure]


async def interrupt(tools: Any) -> list[Any]:
    """Stop a workflow that waits for a person, keep it as text, and go on with it."""
    model, _ = script({"refund": {"order": 7}, "find": {"query": "tea"}})
    agent = FunctionAgent(tools=tools, llm=model)
    handler = agent.run(user_msg="Please.", ctx=Context(agent))
    asked, found = None, False
    async for event in handler.stream_events():
        asked = event if isinstance(event, ApprovalRequest) else asked
        found = found or isinstance(event, ToolCallResult)
        if asked is not None and found:
            break
    kept = json.dumps(handler.ctx.to_dict())
    await handler.cancel_run()
    again = agent.run(ctx=Context.from_dict(agent, json.loads(kept)))
    again.ctx.send_event(asked.answer(True))
    results = [show(it.tool_output) async for it in again.stream_events() if isinstance(it, ToolCallResult)]
    return [results, str(await again)]


async def refund_order(tools: Any, order: int) -> list[Any]:
    """Let a workflow pay for an order, and return what it asks for, and what its model reads."""
    done = await work(tools, {"refund": {"order": order}})
    return [done["asked"], done["results"]]


async def decide(tools: Any) -> dict[str, Any]:
    """Let a person decide about calls."""
    refund, reject = {"refund": {"order": 7}}, {"decision": "reject", "reason": "Too much."}
    wrong, right = ({"decision": "approve", "args": {"order": order}} for order in ("x", 8))
    tried = {
        "approved": await work(tools, refund, decide=[True]),
        "rejected": await work(tools, refund, decide=[reject]),
        "edited": await work(tools, refund, decide=[wrong, right]),
        "decided elsewhere": await work(tools, refund, decide=[None, True]),
        "asked twice": await work(tools, {"empty": {"folder": "old"}}, decide=[True, False]),
        "by ask": await work(load_tools(URL, ask=lambda _: True), refund),
        "as text": await work(load_tools(URL, approvals="text"), refund),
    }
    waiting = load_tools(URL, approval_wait=60)
    waited = await await_person(lambda order: refund_order(waiting, order))
    short = await work(load_tools(URL, approval_wait=0.01), refund)
    both = await work(tools, {**refund, "pay_out": {"amount": 5}}, decide=[True, True])
    told = {name: [it["asked"], it["results"]] for name, it in tried.items()}
    told |= {"waited": waited, "waited shortly": [short["asked"], short["results"]]}
    return {**told, "two at once": sorted(it[0] for it in both["results"]), "interrupted": await interrupt(tools)}


async def main() -> dict[str, Any]:
    """Try all, and return what came of it."""
    tools = await aload_tools(URL)
    by_name = {it.metadata.name: it.metadata.get_parameters_dict() for it in tools}
    told: dict[str, Any] = {"listed": [len(tools), by_name["repeat_number"]]}
    found = await work(tools, {"find": {"query": "tea"}}, {"recall": {"key": "user"}}, state={"user": "Ada"})
    told["called"] = [found["results"], found["own id"], found["said"]]
    told["artifact"] = any("rows" in text for text in found["read"])
    lines = [{"article": "tea", "parts": [{"article": "cup"}]}]
    calls = ({"double": {"number": "four"}}, {"double": {"number": 2**70}}, {"order": {"lines": lines, "kind": None}})
    told["mended"] = (await work(tools, *calls))["results"]
    told["failed"] = (await work(tools, {"fail": {}}, {"double": {"number": -1}}))["results"]
    told |= await decide(tools)
    told["progress"] = (await work(tools, {"write": {"text": "two words"}}))["progress"]
    blocks = (await by_tool(tools, "draw").acall()).blocks
    told["drawn"] = [[it.block_type, getattr(it, "image_mimetype", None)] for it in blocks]
    chosen = ToolSelection(tool_id="call_0", tool_name="jot", tool_kwargs={"text": "tea"})
    told["outside"] = show(call_tool_with_selection(chosen, load_tools(URL)))
    of_run = load_tools(URL, state=lambda run: run.store.get("state.basket"), context=lambda _: {"user": "Ada"})
    calls = ({"find": {"query": "tea"}}, {"recall": {"key": "tea"}})
    told["of the run"] = (await work(of_run, *calls, state={"basket": {"tea": 2}}))["results"]
    return told


def by_tool(tools: Any, name: str) -> Any:
    """Return one of the tools."""
    return next(it for it in tools if it.metadata.name == name)


TOLD = asyncio.run(main())
print(json.dumps({**TOLD, "recipe": conclude_recipe(script({"double": {"number": 4}})[0])}))
