"""Tools are found by words and by regular expressions."""

from typing import Annotated, Any

import pytest
from pydantic import Field

from sidecall import WebSearchTool, tool
from sidecall.features.search.index import BadPattern, ToolIndex


@tool(tags=["mail"])
async def send_email(to: str, text: str) -> str:
    """Write to somebody."""
    return to + text


@tool
async def list_orders(customer: Annotated[str, Field(description="Whose, by e-mail address.")]) -> str:
    """List what a customer has ordered."""
    return customer


@tool
async def refund(order: int, reason: str = "") -> str:
    """Give the money for one order back, and e-mail the customer."""
    return f"{order}{reason}"


@tool
async def get_weather(city: str) -> str:
    """Return the weather of a city."""
    return city


INDEX = ToolIndex([it.compiled for it in (send_email, list_orders, refund, get_weather, WebSearchTool())])


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("weather", ["get_weather"]),
        ("Orders of a customer", ["list_orders", "refund"]),
        ("give money back", ["refund"]),
        ("send a mail", ["send_email", "refund", "list_orders"]),
        ("address", ["list_orders"]),
        ("weath", ["get_weather"]),
        ("we", []),
        ("refunding an ordered thing", ["refund", "list_orders"]),
        ("the emailing of texts", ["send_email"]),
        ("customers' weathers", ["get_weather", "list_orders", "refund"]),
        ("addressed", ["list_orders"]),
        ("addres", ["list_orders"]),
        ("???", []),
        ("search the web", []),
    ],
)
def test_tools_are_ranked_by_words(query: str, names: list[str]) -> None:
    """Names count most; a word that none has stands for those that begin with it; what a provider runs is no tool."""
    assert INDEX.rank(query) == names


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("^get_", ["get_weather"]),
        ("(?i)E-?MAIL", ["send_email", "list_orders", "refund"]),
        ("reason|city", ["refund", "get_weather"]),
        (r"\{", []),
        ("nothing", []),
    ],
)
def test_tools_are_matched_by_a_regular_expression(pattern: str, names: list[str]) -> None:
    """In their order, by names, descriptions and parameters."""
    assert INDEX.match(pattern) == names


@pytest.mark.parametrize("pattern", ["[", "(?=x)", r"\w{1000}", "((a{20}){20}){20}"])
def test_a_pattern_that_takes_long_or_is_none_is_refused(pattern: str) -> None:
    """Before it is made ready."""
    with pytest.raises(BadPattern):
        INDEX.match(pattern)


def test_a_pattern_that_would_go_back_and_forth_takes_no_time() -> None:
    """The engine is linear: this would take others longer than there is time."""
    long: Any = tool("long", description="a" * 5000 + "!")(lambda: "")

    assert ToolIndex([long.compiled]).match("(a+)+$") == []


def test_nothing_is_found_where_nothing_is() -> None:
    """Neither way."""
    assert (ToolIndex().rank("weather"), ToolIndex().match(".")) == ([], [])
