"""LangChain's own way to run a ToolCall."""

from contextlib import nullcontext

from langchain_core.tools import tool
from pydantic_core import from_json

from bench.loops._loop import loop


@tool
async def echo(text: str) -> str:
    """Return the text unchanged."""
    return text


async def answer(body: bytes) -> bytes:
    """Run the tool with the call, and serialize the ToolMessage."""
    message = await echo.ainvoke(from_json(body))
    written: str = message.model_dump_json()
    return written.encode()


if __name__ == "__main__":
    loop(nullcontext(answer))
