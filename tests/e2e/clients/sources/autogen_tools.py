"""Tools as AutoGen's pages have them: a price, a search, a workbench."""

from typing import Annotated, Any

from autogen_core import CancellationToken
from autogen_core.tools import FunctionTool, StaticWorkbench
from pydantic import BaseModel

from sidecall import tool


class Query(BaseModel):
    """What to find."""

    words: list[str]
    limit: int = 2


async def get_stock_price(ticker: str, date: Annotated[str, "As YYYY/MM/DD"]) -> float:
    """Tell a price."""
    if ticker == "NONE":
        raise LookupError("no such share")
    return len(ticker) + len(date) / 4


def search(query: Query, cancellation_token: CancellationToken) -> Query:
    """Find something."""
    return Query(words=[word.upper() for word in query.words], limit=query.limit + 1)


def shout(text: str) -> str:
    """Shout."""
    return text.upper()


stock_price = FunctionTool(get_stock_price, description="Fetch the price of a share.")
autogen_tools = [FunctionTool(search, description="Search.", name="search_it")]
bench = StaticWorkbench([FunctionTool(shout, description="Shout a text.")])


@tool
async def autogen_itself(name: str, args: dict[str, Any]) -> Any:
    """Ask AutoGen itself."""
    token = CancellationToken()
    if name == "shout":
        return (await bench.call_tool(name, args, token)).to_text()
    known = {it.name: it for it in (stock_price, *autogen_tools)}
    value = await known[name].run_json(args, token)
    return known[name].return_value_as_string(value)
