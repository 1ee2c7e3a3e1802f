"""Tools as ADK's pages have them: the weather, a time zone, a note in the session's state."""

from typing import Any, Literal

from google.adk.agents.invocation_context import InvocationContext
from google.adk.sessions.in_memory_session_service import InMemorySessionService
from google.adk.sessions.session import Session
from google.adk.tools import FunctionTool, ToolContext
from pydantic import BaseModel

from sidecall import tool


class Place(BaseModel):
    """Where."""

    city: str
    country: str = "UK"


def get_weather(place: Place, unit: Literal["c", "f"] = "c") -> dict[str, Any]:
    """Report the weather of a place."""
    if place.city == "Atlantis":
        raise LookupError("there is no weather under water")
    return {"status": "success", "report": f"{place.city}, {place.country}: 25 {unit}"}


async def get_offset(city: str, days: int | None = None) -> int:
    """Tell the offset from UTC in hours."""
    return len(city) + (days or 0)


def note(text: str, tool_context: ToolContext) -> str:
    """Keep a note in the session."""
    notes = [*tool_context.state.get("notes", []), text]
    tool_context.state["notes"] = notes
    return f"{len(notes)} of {tool_context.function_call_id}"


def pay(amount: int) -> str:
    """Pay."""
    return f"paid {amount}"


weather_tool = FunctionTool(get_weather)
adk_tools = [FunctionTool(get_offset), FunctionTool(note)]
pay_tool = FunctionTool(pay, require_confirmation=lambda amount: amount > 10)


@tool
async def adk_itself(name: str, args: dict[str, Any], state: dict[str, Any]) -> Any:
    """Ask ADK itself."""
    known = {it.name: it for it in (weather_tool, *adk_tools)}
    session = Session(id="s", app_name="a", user_id="u", state=state)
    invocation = InvocationContext(session_service=InMemorySessionService(), invocation_id="i", session=session)
    context = ToolContext(invocation, function_call_id="c1")
    return await known[name].run_async(args=args, tool_context=context)
