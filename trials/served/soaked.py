"""The tools of a long mix of traffic, besides the plain ones: with state, secrets, files, rates and questions."""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Any

from sidecall import ApprovalRequired, InjectedState, Secret, ToolContext, Workspace, tool


@tool
async def echo(value: Any) -> Any:
    """Return what comes.

    Args:
        value: What.
    """
    return value


@tool
async def hold(seconds: float, context: ToolContext) -> str:
    """Wait, and say so before and after.

    Args:
        seconds: For how long.
    """
    await context.progress(1, 2, "begun")
    await asyncio.sleep(seconds)
    await context.progress(2, 2, "held")
    return "held"


@tool
async def count(parts: int) -> AsyncIterator[str]:
    """Yield numbers.

    Args:
        parts: How many.
    """
    for number in range(parts):
        yield f"{number} "


@tool
async def pay_out(amount: int, context: ToolContext) -> str:
    """Pay, and ask a person first where it is much.

    Args:
        amount: How much.
    """
    if amount >= 100 and not context.approved:
        raise ApprovalRequired("It is much.", payload={"amount": amount})
    return f"paid {amount}"


@tool(idempotency="tool_call_id")
async def book(place: str) -> str:
    """Book a place, once for each id of a call.

    Args:
        place: Which.
    """
    return f"booked {place}"


@tool
async def recall(state: Annotated[dict[str, Any], InjectedState]) -> int:
    """Say how many messages there are."""
    return len(state["messages"])


@tool
async def sign(text: str, key: Annotated[str, Secret("SIGNING_KEY", of="caller")]) -> str:
    """Sign a text.

    Args:
        text: What.
    """
    return f"{text} with {len(key)} characters, such as {key}"


@tool
def note(text: str, workspace: Workspace) -> str:
    """Write a note.

    Args:
        text: The note.
    """
    workspace.write_bytes("note.txt", text.encode())
    return "written to /workspace/note.txt"


@tool(rate="5/second")
async def seldom() -> str:
    """Do what each caller may do five times a second."""
    return "done"
