"""Run agents of the OpenAI Agents SDK whose tools a server has, by a scripted model; print what came of each."""

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from agents import (
    Agent,
    AgentsException,
    ModelResponse,
    Runner,
    RunState,
    ToolCallOutputItem,
    Usage,
    UserError,
    trace,
)
from agents.models.interface import Model
from agents.tracing import TracingProcessor, set_trace_processors
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from sidecall.client import ApprovalNeeded, AsyncSidecall, Sidecall
from sidecall.client.agents import aload_tools, load_tools

USER = {"user": "Ada", "key": "of the state"}


class ScriptedModel(Model):
    """A model that asks for tools, turn by turn, and is done then."""

    def __init__(self, *turns: dict[str, dict[str, Any]]) -> None:
        self.turns = list(turns)

    async def get_response(self, *_: Any, **__: Any) -> ModelResponse:
        """Say what is next."""
        if not self.turns:
            text = ResponseOutputText(type="output_text", text="Done.", annotations=[])
            said: Any = ResponseOutputMessage(
                id="m", type="message", role="assistant", status="completed", content=[text]
            )
            return ModelResponse(output=[said], usage=Usage(), response_id=None)
        calls = [
            ResponseFunctionToolCall(
                type="function_call",
                call_id=f"{name}_{len(self.turns)}.{uuid4().hex}",
                name=name,
                arguments=json.dumps(args),
            )
            for name, args in self.turns.pop(0).items()
        ]
        return ModelResponse(output=[*calls], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> Any:
        """Stream nothing."""
        raise NotImplementedError


class Spans(TracingProcessor):
    """Keeps the errors of spans, and sends nothing anywhere."""

    def __init__(self) -> None:
        self.errors: list[Any] = []

    def on_span_end(self, span: Any) -> None:
        """Keep its error."""
        self.errors += [span.error] if span.error else []

    def on_trace_start(self, trace: Any) -> None:
        """Do nothing."""

    on_trace_end = on_span_start = on_trace_start

    def shutdown(self) -> None:
        """Do nothing."""

    force_flush = shutdown


def outputs(result: Any) -> list[Any]:
    """Return what tools have answered: what the model reads, and what the program gets."""
    items = [item for item in result.new_items if isinstance(item, ToolCallOutputItem)]
    return [
        [item.raw_item["call_id"].partition(".")[0], item.raw_item["output"], _keep(item.custom_data)] for item in items
    ]


def _keep(data: Any) -> Any:
    return {key: data[key] for key in ("artifact", "status") if data.get(key) is not None} if data else None


async def work(tools: Any, *turns: Any) -> Any:
    """Let an agent work to its end, or to where a person is needed."""
    agent = Agent("assistant", tools=tools, model=ScriptedModel(*turns))
    return agent, await Runner.run(agent, "Please.", context=USER)


async def decide(tools: Any, decision: str) -> Any:
    """Stop for an approval, keep the run as text, decide, and go on."""
    agent, stopped = await work(tools, {"refund": {"order": 7}})
    state = await RunState.from_string(agent, stopped.to_state().to_string())
    (interruption,) = state.get_interruptions()
    if decision == "approve":
        state.approve(interruption)
    else:
        state.reject(interruption, rejection_message="Ask for a receipt first.")
    result = await Runner.run(agent, state)
    return [interruption.name, json.loads(interruption.arguments), outputs(result), result.final_output]


async def send(tools: Any) -> list[Any]:
    """Stop for an approval of a call whose tool asks in the middle of its work, approve it, and go on."""
    agent, stopped = await work(tools, {"send": {"amount": 500}})
    state = stopped.to_state()
    for interruption in stopped.interruptions:
        state.approve(interruption)
    kept, said = state.to_string(), []
    # Gone on with once more, the run answers no question by that.
    for _ in range(2):
        state = await RunState.from_string(agent, kept)
        try:
            return [output for _, output, _ in outputs(await Runner.run(agent, state))]
        except UserError as error:
            needed = error.__cause__
            is_waiting = isinstance(needed, ApprovalNeeded)
            said.append([it.description for it in needed.approvals] if is_waiting else repr(needed))
    return said


async def ask_inside(server: AsyncSidecall) -> list[Any]:
    """Approve such a call where nobody can be asked more, and where somebody can."""
    ended = await send(await aload_tools(server))
    waiting = [it.description for it in await server.approvals.list() if it.tool_call["id"].startswith("send_")]
    heard: list[Any] = []
    tools = await aload_tools(server, ask=lambda approval: heard.append(approval.description) or False)
    return [ended, waiting, await send(tools), heard]


def describe(error: Any) -> list[Any]:
    """Return what a span says of its error."""
    return [error["message"], error["data"]["tool_name"], error["data"]["kind"]]


async def fail(tools: Any, name: str, args: dict[str, Any]) -> list[Any]:
    """Run into what a tool lets through, and say what the program gets of it."""
    try:
        await work(tools, {name: args})
    except AgentsException as error:
        about = vars(error)
        guardrail, output = about.get("guardrail"), about.get("output")
        said = [about.get("tool_name"), about.get("timeout_seconds")]
        said += [guardrail.get_name(), output.output_info, output.behavior["type"]] if guardrail else []
        return [type(error).__name__, *[it for it in said if it is not None], type(error.__cause__).__name__]
    return []


async def list_waiting(server: AsyncSidecall, but: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the calls that wait by their ids, with their approvals, but for these: others ask the same server."""
    waiting = {f"{it.tool_call['id']} {it.id}": it.id for it in await server.approvals.list()}
    return {name: it for name, it in waiting.items() if name not in (but or {})}


async def main() -> None:
    """Try all."""
    spans, told = Spans(), {}
    set_trace_processors([spans])
    kinds = {"state": lambda run: run.context, "context": lambda run: {"user": run.context["user"]}}
    first = {"find": {"query": "tea"}, "recall": {"key": "key"}, "double": {"number": "four"}, "draw": {}}
    async with AsyncSidecall(os.environ["SIDECALL_URL"]) as server:
        tools = await aload_tools(server, **kinds)
        before = await list_waiting(server)
        told["offered"] = [[it.name, [*it.params_json_schema["properties"]], bool(it.needs_approval)] for it in tools]
        with trace("tried"):
            _, result = await work(tools, first, {"double": {"number": 4}})
        told["work"] = [outputs(result), result.final_output]
        told["spans"] = [describe(error) for error in spans.errors]
        told["approved"], told["inside"] = await decide(tools, "approve"), await ask_inside(server)
        told["rejected"] = await decide(tools, "reject")
        told["left"] = any(it.startswith("refund_") for it in await list_waiting(server, but=before))
        try:
            await work(tools, {"pay_out": {"amount": 5}})
        except UserError as error:
            needed = error.__cause__
            told["asks itself"] = (
                needed.approvals[0].description if isinstance(needed, ApprovalNeeded) else repr(needed)
            )
        asked = await aload_tools(server, **kinds, ask=lambda approval: approval.tool_call["args"]["amount"] == 5)
        _, result = await work(asked, {"pay_out": {"amount": 5}, "jot": {"text": "tea"}})
        told["asked"], told["text"] = ([it] for it in outputs(result))
        failing = ("linger", {}), ("repeat", {"text": "an order"}), ("repeat", {"text": "a secret"})
        told["failed"] = [await fail(tools, name, args) for name, args in failing]
        strict = await aload_tools(server, filters={"names": ["double"], "strict": True})
        told["strict"] = [[it.name, it.strict_json_schema] for it in strict]
    print(json.dumps(told))


def run_blocking() -> None:
    """Try the client without an event loop."""
    with Sidecall(os.environ["SIDECALL_URL"]) as server:
        agent = Agent(
            "assistant",
            tools=load_tools(server),
            model=ScriptedModel({"double": {"number": 4}}, {"refund": {"order": 7}}),
        )
        stopped = Runner.run_sync(agent, "Please.")
        print(json.dumps([outputs(stopped), [it.name for it in stopped.interruptions]]))


if __name__ == "__main__":
    asyncio.run(main())
    run_blocking()
    sys.stdout.flush()
