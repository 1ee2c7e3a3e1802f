"""Tools as Haystack's pages have them: the weather, a toolset of sums, documents from and to the state."""

from typing import Annotated, Any, Literal

from haystack.components.agents.state import State
from haystack.components.agents.tool_calling import _run_tool_async
from haystack.dataclasses import ChatMessage, ToolCall
from haystack.tools import Tool, Toolset, tool

from sidecall import tool as sidecall_tool


@tool
def report_weather(
    city: Annotated[str, "The city."], unit: Annotated[Literal["C", "F"], "Its unit."] = "C"
) -> dict[str, Any]:
    """Report the weather for a city."""
    if city == "Atlantis":
        raise LookupError("there is no weather under water")
    return {"city": city, "degrees": 20, "unit": unit}


def _subtract(a: int, b: int) -> int:
    return a - b


async def _multiply(a: int, b: int) -> int:
    return a * b


_NUMBERS = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
    "required": ["a", "b"],
}
sums = Toolset(
    [
        Tool(name="subtract", description="Subtract.", parameters=_NUMBERS, function=_subtract),
        Tool(name="multiply", description="Multiply.", parameters=_NUMBERS, async_function=_multiply),
    ]
)


@tool(
    inputs_from_state={"repository": "repository"},
    outputs_to_state={"documents": {"source": "docs"}},
    outputs_to_string={"source": "docs", "handler": ", ".join},
)
def find_documents(query: str, repository: str) -> dict[str, Any]:
    """Find documents."""
    return {"docs": [f"{query} in {repository}"], "more": 1}


@sidecall_tool
async def haystack_itself(name: str, args: dict[str, Any], state: dict[str, Any]) -> Any:
    """Ask Haystack itself."""
    known = {it.name: it for it in (report_weather, find_documents, *sums)}
    schema = {"repository": {"type": str}, "documents": {"type": list}}
    call = ChatMessage.from_assistant(tool_calls=[ToolCall(tool_name=name, arguments=args, id="c1")])
    given = State(schema=schema, data=state)
    messages, _ = await _run_tool_async(
        messages=[call], state=given, tools=list(known.values()), raise_on_failure=False
    )
    result = messages[0].tool_call_results[0]
    if result.error:
        raise RuntimeError(result.result)
    return result.result
