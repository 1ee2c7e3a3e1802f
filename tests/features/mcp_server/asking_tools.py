"""Tools that ask a person while they run."""

from types import ModuleType

from sidecall import ApprovalRequired, ToolContext, tool

RAN: list[str] = []
# A module of its own, in whose name nothing is seen.
elsewhere = ModuleType("elsewhere")
elsewhere.error = ApprovalRequired  # type: ignore[attr-defined]


@tool
async def pay_out(amount: int, context: ToolContext) -> str:
    """Pay out; a person is asked about much."""
    RAN.append(f"{amount}")
    if amount > 10 and not context.approved:
        raise ApprovalRequired("The till is nearly empty.", payload={"left": 3})
    return f"Paid {amount}."


@tool
async def move(target: str, context: ToolContext) -> str:
    """Move in two steps, each of which a person is asked about."""
    step = context.resumed or 0
    RAN.append(f"{target} {step}")
    if context.rejection is not None:
        return f"Undone at {step}: {context.reply}"
    if step < 2:
        raise ApprovalRequired(f"Take step {step + 1}?", state=step + 1)
    return f"Moved to {target}."


@tool
async def sell(amount: int, context: ToolContext) -> str:
    """Sell; what asks a person is not seen in the code."""
    RAN.append(f"sell {amount}")
    if amount > 10 and not context.approved:
        raise getattr(elsewhere, "error")("Sell so many?")  # noqa: B009
    RAN.append(f"sold {amount}")
    return f"Sold {amount}."


@tool(idempotency="tool_call_id")
async def order(amount: int, context: ToolContext) -> str:
    """Order; a person is asked about much."""
    RAN.append(f"{amount}")
    if amount > 10 and not context.approved:
        raise ApprovalRequired("So many?")
    return f"Ordered {amount}."
