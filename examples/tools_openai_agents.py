"""A file of function tools for the OpenAI Agents SDK, moved to Sidecall by its import line.

It was `from agents import RunContextWrapper, function_tool`; nothing else has changed. Serve it with `sidecall serve
--tools examples/tools_openai_agents.py`.
"""

from dataclasses import dataclass

from sidecall import RunContextWrapper, function_tool


@dataclass
class Customer:
    """Who is served; the program sends it as `context` beside each call."""

    name: str
    limit: int = 100


ORDERS = {7: 40, 8: 400}


def explain(ctx: RunContextWrapper[Customer], error: Exception) -> str:
    """Word a failure for the model."""
    return f"That did not work for {ctx.context.name}: {error}"


def is_large(ctx: RunContextWrapper[Customer], args: dict[str, int], _call_id: str) -> bool:
    """Ask a person about what is above the customer's limit."""
    return ORDERS.get(args["order"], 0) > ctx.context.limit


@function_tool(failure_error_function=explain)
def find_order(ctx: RunContextWrapper[Customer], order: int) -> dict[str, object]:
    """Find an order.

    Args:
        order: Its number.
    """
    if order not in ORDERS:
        raise LookupError(f"there is no order {order}")
    return {"order": order, "price": ORDERS[order], "customer": ctx.context.name}


@function_tool(needs_approval=is_large, timeout=5)
async def refund(ctx: RunContextWrapper[Customer], order: int, reason: str | None = None) -> str:
    """Pay an order back.

    Args:
        order: Its number.
        reason: Why.
    """
    return f"Paid {ORDERS[order]} back to {ctx.context.name} ({reason or 'no reason'})."
