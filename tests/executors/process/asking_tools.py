"""Tools that ask their server from a process; a process loads this file again to find them."""

from sidecall import ApprovalRequired, ToolContext, tool


@tool(executor="process")
def refund(amount: int, context: ToolContext) -> str:
    """Pay money back, if a person wants that.

    Args:
        amount: How much.
    """
    if amount > 100 and (not context.approved or amount > 1000):
        raise ApprovalRequired(f"Pay {amount} back?", preview={"amount": amount}, payload=["account", object])
    return f"refunded {amount}"
