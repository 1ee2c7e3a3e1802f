"""Twelve tools as the documentation of LangChain teaches them."""

import math
from dataclasses import dataclass
from typing import Any, Literal

from langchain.tools import ToolRuntime, tool
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, ToolMessage
from langchain_core.tools import StructuredTool, ToolException
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.types import Command
from pydantic import BaseModel, Field


@tool
def search_database(query: str, limit: int = 10) -> str:
    """Search the customer database for records matching the query.

    Args:
        query: Search terms to look for
        limit: Maximum number of results to return
    """
    return f"Found {limit} results for '{query}'"


@tool("calculator", description="Performs arithmetic calculations. Use this for any math problems.")
def calc(expression: str) -> str:
    """Evaluate mathematical expressions."""
    if "/0" in expression:
        raise ToolException("Cannot divide by zero.")
    return str(eval(expression, {"__builtins__": {}}, vars(math)))


class WeatherInput(BaseModel):
    """Input for weather queries."""

    location: str = Field(description="City name or coordinates")
    units: Literal["celsius", "fahrenheit"] = Field(default="celsius", description="Temperature unit preference")
    include_forecast: bool = Field(default=False, description="Include 5-day forecast")


@tool(args_schema=WeatherInput)
def get_weather(location: str, units: str = "celsius", include_forecast: bool = False) -> str:
    """Get current weather and optional forecast."""
    temp = 22 if units == "celsius" else 72
    result = f"Current weather in {location}: {temp} degrees {units[0].upper()}"
    if include_forecast:
        result += "\nNext 5 days: Sunny"
    return result


weather_schema = {
    "type": "object",
    "properties": {
        "location": {"type": "string"},
        "units": {"type": "string"},
        "include_forecast": {"type": "boolean"},
    },
    "required": ["location", "units", "include_forecast"],
}


@tool(args_schema=weather_schema)
def get_weather_by_schema(location: str, units: str = "celsius", include_forecast: bool = False) -> str:
    """Get current weather and optional forecast."""
    return f"{location} {units} {include_forecast}"


@tool
def summarize_conversation(runtime: ToolRuntime) -> str:
    """Summarize the conversation so far."""
    messages = runtime.state["messages"]
    human_msgs = sum(1 for m in messages if isinstance(m, HumanMessage))
    ai_msgs = sum(1 for m in messages if m.__class__.__name__ == "AIMessage")
    return f"Conversation has {human_msgs} user messages, {ai_msgs} AI responses: {messages[0].content}"


@tool
def get_user_preference(pref_name: str, runtime: ToolRuntime) -> str:
    """Get a user preference value."""
    preferences = runtime.state.get("user_preferences", {})
    return preferences.get(pref_name, "Not set")


@tool
def clear_conversation() -> Command:
    """Clear the conversation history."""
    return Command(update={"messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES)]})


@tool
def update_user_name(new_name: str, runtime: ToolRuntime) -> Command:
    """Update the user's name."""
    return Command(
        update={
            "user_name": new_name,
            "messages": [ToolMessage(f"Successfully updated to {new_name}", tool_call_id=runtime.tool_call_id)],
        }
    )


@dataclass
class UserContext:
    """Who asks."""

    user_id: str


@tool
def get_account_info(runtime: ToolRuntime[UserContext]) -> str:
    """Get the current user's account information."""
    user_id = runtime.context.user_id
    if user_id == "user123":
        return "Account holder: Alice Johnson\nType: Premium\nBalance: $5000"
    return "User not found"


@tool
def save_user_info(user_id: str, user_info: dict[str, Any], runtime: ToolRuntime) -> str:
    """Save user info."""
    store = runtime.store
    writer = runtime.stream_writer
    writer(f"Saving {user_id}")
    store.put(("users",), user_id, user_info)
    saved = store.get(("users",), user_id)
    return str(saved.value) if saved else "Unknown user"


@tool(response_format="content_and_artifact", parse_docstring=True)
def generate_random_ints(low: int, high: int, size: int) -> tuple[str, list[int]]:
    """Generate size integers in the range [low, high).

    Args:
        low: The lowest.
        high: The highest.
        size: How many.
    """
    array = [low + i % (high - low) for i in range(size)]
    return f"Successfully generated array of {size} ints in [{low}, {high}].", array


def get_forecast(city: str) -> int:
    """Get weather for the given city."""
    raise ToolException(f"Error: There is no city by the name of {city}.")


forecast = StructuredTool.from_function(
    func=get_forecast, handle_tool_error="There is no such city, but it's probably above 0K there!"
)
SAID = AIMessage("Hi!")
