"""A tool whose calls are decided by rules."""

from sidecall import tool


@tool(requires_approval=True)
async def ruled(amount: int) -> str:
    """Ask a person, once for all calls."""
    return f"paid {amount}"
