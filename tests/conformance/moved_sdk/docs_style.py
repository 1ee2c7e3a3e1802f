"""Function tools as the documentation of the OpenAI Agents SDK teaches them."""

import asyncio
import json
from dataclasses import dataclass
from typing import Annotated, Any

from agents import (
    AgentBase,
    FunctionTool,
    RunContextWrapper,
    ToolGuardrailFunctionOutput,
    ToolOutputImage,
    ToolOutputText,
    function_tool,
    tool_input_guardrail,
    tool_output_guardrail,
)
from agents.tool_context import ToolContext
from pydantic import BaseModel, Field
from typing_extensions import TypedDict


class Location(TypedDict):
    lat: float
    long: float


@dataclass
class UserInfo:
    name: str
    uid: int
    language_preference: str = "french_spanish"


@function_tool
async def fetch_weather(location: Location) -> str:
    """Fetch the weather for a given location.

    Args:
        location: The location to fetch the weather for.
    """
    return f"sunny at {location['lat']:g}, {location['long']:g}"


@function_tool(name_override="fetch_data")
def read_file(ctx: RunContextWrapper[Any], path: str, directory: str | None = None) -> str:
    """Read the contents of a file.

    Args:
        path: The path to the file to read.
        directory: The directory to read the file from.
    """
    return f"<file contents of {directory or '.'}/{path}>"


class FunctionArgs(BaseModel):
    username: str
    age: int


async def run_function(ctx: RunContextWrapper[Any], args: str) -> str:
    parsed = FunctionArgs.model_validate_json(args)
    return f"{parsed.username} is {parsed.age} years old"


process_user = FunctionTool(
    name="process_user",
    description="Processes extracted user data",
    params_json_schema=FunctionArgs.model_json_schema(),
    on_invoke_tool=run_function,
)


def my_custom_error_function(context: RunContextWrapper[Any], error: Exception) -> str:
    """A custom function to provide a user-friendly error message."""
    return f"An internal server error occurred: {type(error).__name__}. Please try again later."


@function_tool(failure_error_function=my_custom_error_function)
def get_user_profile(user_id: str) -> str:
    """Fetches a user profile from a mock API.

    This function demonstrates a 'flaky' or failing API call.
    """
    if user_id == "user_123":
        return "User profile for user_123 successfully retrieved."
    raise ValueError(f"Could not retrieve profile for user_id: {user_id}. API returned an error.")


@function_tool(timeout=0.05)
async def slow_lookup(query: str) -> str:
    """Look something up slowly."""
    await asyncio.sleep(0 if query == "quick" else 5)
    return f"Result for {query}"


@function_tool
async def fetch_user_age(wrapper: RunContextWrapper[UserInfo]) -> str:
    """Fetch the age of the user. Call this function to get user's age information."""
    return f"The user {wrapper.context.name} is 47 years old"


def french_enabled(ctx: RunContextWrapper[UserInfo], agent: AgentBase) -> bool:
    """Enable French for French+Spanish preference."""
    return ctx.context.language_preference == "french_spanish"


@function_tool(is_enabled=french_enabled)
def respond_french(text: Annotated[str, "What to say."]) -> str:
    """Respond to the user's question in French."""
    return f"Bonjour: {text}"


async def requires_review(_ctx: RunContextWrapper[Any], params: dict[str, Any], _call_id: str) -> bool:
    return "refund" in params.get("subject", "").lower()


@function_tool(needs_approval=requires_review)
async def send_email(subject: str, body: str) -> str:
    """Send an email."""
    return f"Sent email with subject '{subject}'"


@function_tool
def score(value: Annotated[int, Field(..., ge=0, le=100, description="Score from 0 to 100")]) -> str:
    """Record a score."""
    return f"Score recorded: {value}"


@function_tool
def return_image(label: str) -> list[Any]:
    """Show an image."""
    return [ToolOutputText(text=label), ToolOutputImage(image_url="https://example.org/a.png", detail="low")]


@tool_input_guardrail
def block_secrets(data: Any) -> ToolGuardrailFunctionOutput:
    args = json.loads(data.context.tool_arguments or "{}")
    if "sk-" in json.dumps(args):
        return ToolGuardrailFunctionOutput.reject_content("Remove secrets before calling this tool.")
    return ToolGuardrailFunctionOutput.allow()


@tool_output_guardrail
def redact_output(data: Any) -> ToolGuardrailFunctionOutput:
    text = str(data.output or "")
    if "sk-" in text:
        return ToolGuardrailFunctionOutput.reject_content("Output contained sensitive data.")
    return ToolGuardrailFunctionOutput.allow()


@function_tool(tool_input_guardrails=[block_secrets], tool_output_guardrails=[redact_output])
def classify_text(text: str) -> str:
    """Classify text for internal routing."""
    return f"length:{len(text)}{' sk-1' if text == 'leak' else ''}"


@function_tool
def get_weather(ctx: ToolContext[UserInfo], city: Annotated[str, "The city to get the weather for"]) -> str:
    """Get the current weather information for a specified city."""
    return f"{ctx.tool_name} {ctx.tool_call_id} {json.loads(ctx.tool_arguments)} for {ctx.context.uid}"
