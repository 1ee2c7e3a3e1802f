"""Tools that show what clients and their adapters have to bring across."""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Any

from sidecall import (
    ApprovalRequired,
    Command,
    InjectedState,
    InjectedToolArg,
    ToolContext,
    ToolException,
    ToolGuardrailFunctionOutput,
    ToolInputGuardrailData,
    ToolMessage,
    ToolOutputGuardrailData,
    tool,
    tool_input_guardrail,
    tool_output_guardrail,
)


@tool
def double(number: int) -> int:
    """Double a number.

    Args:
        number: Not below zero.
    """
    if number < 0:
        raise ToolException("Not below zero.")
    return number * 2


@tool(response_format="content_and_artifact")
def find(query: str, user: Annotated[str, InjectedToolArg] = "nobody") -> tuple[str, dict[str, Any]]:
    """Find something."""
    return f"{query} for {user}", {"rows": [query]}


@tool
def recall(key: str, state: Annotated[dict[str, Any], InjectedState]) -> str:
    """Read the caller's state."""
    return str(state.get(key))


@tool
def book(seat: str) -> Command:
    """Book a seat, and keep it in the caller's state."""
    return Command(update={"seat": seat, "messages": [ToolMessage(content=f"Seat {seat} is yours.")]})


@tool(requires_approval=True)
def refund(order: int, amount: int = 100) -> str:
    """Pay money back."""
    return f"Refunded {amount} for order {order}."


@tool(idempotency="tool_call_id")
def charge(amount: int) -> str:
    """Charge an amount."""
    return f"Charged {amount}."


@tool
def configure(runtime: str, config: dict[str, Any], tool_call_id: str, store: int, state: str, callbacks: str) -> str:
    """Configure something, by names that frameworks have for things of their own."""
    return f"{runtime} {config} {tool_call_id} {store} {state} {callbacks}"


@tool(input="text")
def jot(text: str) -> str:
    """Jot a text down."""
    return f"noted: {text}"


@tool
def pay_out(amount: int, context: ToolContext) -> str:
    """Pay money out."""
    if not context.approved:
        raise ApprovalRequired("The till is nearly empty.")
    return f"Paid {amount}."


@tool
def empty(folder: str, context: ToolContext) -> str:
    """Empty a folder, and ask twice before."""
    asked = context.resumed or []
    if context.rejection is not None:
        return f"{folder} stays: {len(asked)} asked."
    if len(asked) < 2:
        raise ApprovalRequired(["Read it?", "Delete it?"][len(asked)], state=[*asked, "yes"])
    return f"{folder} is empty."


@tool(requires_approval=lambda args: args["amount"] > 100)
def send(amount: int, context: ToolContext) -> str:
    """Send an amount to another country; a large one may be sent once somebody has said so, and then wants a fee."""
    if amount > 100 and context.resumed is None:
        raise ApprovalRequired("Pay the fee?", state="at the counter")
    return f"Sent {amount}: {context.rejection is None}."


@tool
async def write(text: str, context: ToolContext) -> AsyncIterator[str]:
    """Write a text word by word."""
    await context.progress(1, 2, "begun")
    for word in text.split():
        yield word


@tool(timeout=0.05, timeout_behavior="raise")
async def linger() -> str:
    """Take too long, and let the program know."""
    await asyncio.sleep(60)
    return "late"


@tool_input_guardrail
def no_order(data: ToolInputGuardrailData) -> ToolGuardrailFunctionOutput:
    """Refuse requests about an order."""
    if "order" in str(data.args):
        return ToolGuardrailFunctionOutput.raise_exception({"asked": "order"})
    return ToolGuardrailFunctionOutput.allow()


@tool_output_guardrail
def no_secret(data: ToolOutputGuardrailData) -> ToolGuardrailFunctionOutput:
    """Refuse answers with a secret."""
    if "secret" in str(data.output):
        return ToolGuardrailFunctionOutput.raise_exception("a secret")
    return ToolGuardrailFunctionOutput.allow()


@tool(tool_input_guardrails=[no_order], tool_output_guardrails=[no_secret])
def repeat(text: str) -> str:
    """Repeat a text."""
    return text


@tool
async def sleep(seconds: float) -> str:
    """Do nothing for a while."""
    await asyncio.sleep(seconds)
    return "awake"
