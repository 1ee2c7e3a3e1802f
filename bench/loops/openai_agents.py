"""The OpenAI Agents SDK's way to run a call: arguments as text in, the function's result out."""

from contextlib import nullcontext

from agents import function_tool
from agents.tool_context import ToolContext
from pydantic_core import from_json, to_json

from bench.loops._loop import loop


@function_tool
async def echo(text: str) -> str:
    """Return the text unchanged."""
    return text


async def answer(body: bytes) -> bytes:
    """Run the tool with the call, and serialize the message that goes back."""
    call = from_json(body)
    arguments = to_json(call["args"]).decode()
    context = ToolContext(context=None, tool_name=call["name"], tool_call_id=call["id"], tool_arguments=arguments)
    content = await echo.on_invoke_tool(context, arguments)
    return to_json({"type": "function_call_output", "call_id": call["id"], "content": content})


if __name__ == "__main__":
    loop(nullcontext(answer))
