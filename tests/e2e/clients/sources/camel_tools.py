"""Tools of CAMEL: its own of sums, and as its pages have them."""

from typing import Any

from camel.toolkits import FunctionTool, MathToolkit

from sidecall import tool


def list_cities(country: str, limit: int = 2) -> list[str]:
    """List cities of a country.

    Args:
        country (str): Where.
        limit (int): How many.
    """
    if country == "none":
        raise ValueError("no such country")
    return [f"{country} {number}" for number in range(limit)]


async def wait_for(place: str) -> str:
    """Wait for a place.

    Args:
        place (str): Which.
    """
    return f"{place} is free"


sums = MathToolkit()
camel_tools = [FunctionTool(list_cities), FunctionTool(wait_for)]


@tool
async def camel_itself(name: str, args: dict[str, Any]) -> Any:
    """Ask CAMEL itself."""
    known = {it.get_function_name(): it for it in (*camel_tools, *sums.get_tools())}
    return await known[name].async_call(**args)
