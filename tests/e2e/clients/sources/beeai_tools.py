"""Tools as BeeAI's pages have them: a riddle, a sum, an output of values."""

from typing import Any

from beeai_framework.tools import JSONToolOutput, tool

from sidecall import tool as sidecall_tool


@tool
def find_riddle(index: int | None = None) -> str:
    """Find a riddle."""
    if index == 0:
        raise ValueError("riddles begin with 1")
    return f"riddle {index}"


@tool(name="sum_up", description="Sum up numbers.")
async def sum_up(numbers: list[float]) -> float:
    """Sum up."""
    return sum(numbers)


@tool
async def list_values(name: str) -> JSONToolOutput[Any]:
    """List values."""
    return JSONToolOutput({"name": name, "values": [1, 2]})


beeai_tools = [find_riddle, sum_up, list_values]


@sidecall_tool
async def beeai_itself(name: str, args: dict[str, Any]) -> Any:
    """Ask BeeAI itself."""
    known = {it.name: it for it in beeai_tools}
    return (await known[name].run(args)).get_text_content()
