"""A tool that calls another with a ToolCall hears of its failure as it does with LangChain: it is raised."""

from typing import Any

import pytest
from langchain_core.tools import ToolException as LangChainException
from langchain_core.tools import tool as langchain_tool

import sidecall
from tests.kit.clients import MakeClient

HANDLERS: list[dict[str, Any]] = [
    {},
    {"handle_tool_error": True, "handle_validation_error": True},
    {"handle_tool_error": "not today", "handle_validation_error": "two numbers, please"},
    {"handle_tool_error": lambda error: f"said {error}", "handle_validation_error": lambda _: "wrong"},
]
ARGS: list[Any] = [{"n": 4}, {"n": 0}, {"n": -1}, {"n": "x"}, {}]


async def call_in_a_way(it: Any, way: str, args: Any) -> Any:
    """Call a tool, and tell what it answers."""
    call = {"type": "tool_call", "name": it.name, "args": args, "id": "inner"}
    ways = {
        "invoke": lambda: [it.invoke(call)],
        "run": lambda: [it.run(args, tool_call_id="inner")],
        "batch": lambda: it.batch([call, call]),
    }
    messages = [await it.ainvoke(call)] if way == "ainvoke" else ways[way]()
    return " ".join(f"{message.status} {message.content}" for message in messages)


def make_outer(tool: Any, exception: Any, handlers: dict[str, Any], way: str) -> Any:
    """Make a tool that calls another, with the names of either library."""

    @tool
    def halve(n: int) -> str:
        """Halve."""
        if n < 0:
            raise exception("no debts")
        return str(4 / n)

    for name, handler in handlers.items():
        setattr(halve, name, handler)

    @tool
    async def outer(sent: dict[str, Any]) -> str:
        """Call the other one."""
        try:
            return str(await call_in_a_way(halve, way, sent))
        except ZeroDivisionError as error:
            return f"caught {error}"
        except exception as error:
            return f"caught {error}"
        except ValueError:
            return "caught wrong arguments"

    return outer


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "run", "batch"])
@pytest.mark.parametrize("args", ARGS)
@pytest.mark.parametrize("handlers", HANDLERS)
async def test_the_outer_tool_hears_of_it(
    make_client: MakeClient, handlers: dict[str, Any], args: Any, way: str
) -> None:
    """Through HTTP and in a test; what a handler words is a message, of either library."""
    theirs = make_outer(langchain_tool, LangChainException, handlers, way)
    ours = make_outer(sidecall.tool, sidecall.ToolException, handlers, way)
    expected = await theirs.ainvoke({"sent": args})
    client = await make_client(ours)

    served = await client.post("/tool_calls", json={"name": "outer", "args": {"sent": args}})

    assert [served.json()["content"], await ours.ainvoke({"sent": args})] == [expected, expected]


async def test_what_it_does_not_catch_is_its_own_failure(make_client: MakeClient) -> None:
    """And no success with words about a failure."""

    @sidecall.tool
    def fails() -> str:
        """Fail."""
        raise KeyError("inside")

    @sidecall.tool
    def outer() -> str:
        """Hand on what the other one says."""
        return str(fails.invoke({"type": "tool_call", "name": "fails", "args": {}, "id": "inner"}).content)

    client = await make_client(outer)
    answer = (await client.post("/tool_calls", json={"name": "outer", "args": {}})).json()

    assert (answer["status"], answer["response_metadata"]["error"]["kind"]) == ("error", "execution_error")


async def test_outside_of_tools_a_call_is_answered_as_over_http() -> None:
    """As a test wants to see it."""

    @sidecall.tool
    def fails() -> str:
        """Fail."""
        raise KeyError("inside")

    message = await fails.ainvoke({"type": "tool_call", "name": "fails", "args": {}, "id": "1"})

    assert message.status == "error"
