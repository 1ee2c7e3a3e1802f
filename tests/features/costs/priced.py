"""Tools that cost something."""

import asyncio
import operator
import time
from typing import Any

import httpx

from sidecall import (
    ApprovalRequired,
    Cache,
    Retry,
    ToolContext,
    ToolException,
    ToolGuardrailFunctionOutput,
    tool,
    tool_input_guardrail,
)


@tool(cost=0.25)
async def fixed(text: str = "") -> str:
    """Cost the same each time."""
    if text == "fail":
        raise ToolException("it failed")
    return text


@tool
async def add(amounts: list[float], context: ToolContext) -> str:
    """Cost what is asked for."""
    for amount in amounts:
        context.add_cost(amount)
    return "done"


@tool
def in_thread(amounts: list[float], context: ToolContext) -> str:
    """Do so in a thread."""
    for amount in amounts:
        context.add_cost(amount)
    return "done"


@tool(executor="process")
def in_process(amounts: list[float], context: ToolContext) -> str:
    """Do so in a process."""
    for amount in amounts:
        context.add_cost(amount)
    return str(context.cost)


@tool(cost=0.25, cache=Cache(ttl=60), annotations={"read_only": True})
async def cached(text: str) -> str:
    """Answer again what was answered."""
    await asyncio.sleep(0)
    return text


@tool(cost=0.25)
async def broken(context: ToolContext) -> str:
    """Fail when half is done."""
    context.add_cost(0.5)
    raise RuntimeError("no more")


@tool(cost=0.25, retry=Retry(attempts=2, wait=0.001), annotations={"idempotent": True})
async def retried(context: ToolContext) -> str:
    """Succeed at the second attempt."""
    context.add_cost(0.5)
    if context.cost < 1:
        raise OSError
    return "done"


@tool(background=True, cost=0.25)
async def job(context: ToolContext) -> str:
    """Run while nobody waits."""
    context.add_cost(0.5)
    return "done"


@tool(cost=0.25)
async def asking(context: ToolContext) -> str:
    """Ask in the middle."""
    context.add_cost(0.5)
    if not context.approved:
        raise ApprovalRequired("go on?")
    return "done"


@tool_input_guardrail
def judge(data: Any) -> ToolGuardrailFunctionOutput:
    """Let all pass, which costs something."""
    data.context.add_cost(0.125)
    return ToolGuardrailFunctionOutput(output_info=None)


@tool(tool_input_guardrails=[judge])
async def judged() -> str:
    """Be judged first."""
    return "done"


@tool(cost=0)
async def free(context: ToolContext) -> str:
    """Cost nothing."""
    return "done"


@tool
async def curious(context: ToolContext) -> str:
    """Ask who calls, and add nothing."""
    return context.caller.subject


@tool
async def roundabout(amount: float, context: ToolContext) -> str:
    """Add by code that is not in this module."""
    operator.methodcaller("_".join(("add", "cost")), amount)(context)
    return "done"


@tool(cost=0.25, executor="process", timeout=1)
def late_in_process(context: ToolContext, rounds: int = 1_000_000) -> str:
    """Add until the process is killed, without a word to be waited for."""
    context.add_cost(0.125)
    for _ in range(rounds):
        time.sleep(0.01)
        context.add_cost(0.001)
    return str(context.cost)


@tool
async def plain() -> str:
    """Say nothing of costs."""
    return "done"


async def send(client: httpx.AsyncClient, name: str, **args: Any) -> httpx.Response:
    """Send a call."""
    conversation = args.pop("conversation", None)
    headers = {} if conversation is None else {"Sidecall-Conversation": conversation}
    return await client.post("/tool_calls", json={"name": name, "args": args}, headers=headers)


async def pay(client: httpx.AsyncClient, name: str, **args: Any) -> float | None:
    """Send a call, and return what its answer says that it cost."""
    cost: float | None = (await send(client, name, **args)).json()["response_metadata"].get("cost")
    return cost
