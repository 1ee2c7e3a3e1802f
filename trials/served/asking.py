"""A tool about whose calls people decide for good."""

from sidecall import tool


@tool(requires_approval=True)
async def ruled(amount: int) -> str:
    """Ask a person, once for all calls."""
    return f"paid {amount}"
