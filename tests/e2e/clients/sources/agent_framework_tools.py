"""Tools as the pages of Microsoft's Agent Framework have them: the weather, a menu, a picture."""

from typing import Annotated, Any

from agent_framework import Content, FunctionInvocationContext, FunctionTool, tool
from pydantic import BaseModel, Field

from sidecall import tool as sidecall_tool


@tool
def read_weather(
    location: Annotated[str, Field(description="The city.")], unit: Annotated[str, "Its unit."] = "celsius"
) -> str:
    """Get the weather for a location."""
    if location == "Atlantis":
        raise LookupError("there is no weather under water")
    return f"{location}: 22 {unit}"


class Order(BaseModel):
    """An order."""

    dish: str
    count: int = 1


@tool(approval_mode="never_require")
async def order_dishes(orders: list[Order], ctx: FunctionInvocationContext) -> dict[str, Any]:
    """Order dishes."""
    return {"orders": [dict(it) for it in orders], "table": ctx.kwargs.get("table")}


@tool
def paint(title: str) -> list[Content]:
    """Paint a picture."""
    return [Content.from_text(title), Content.from_data(b"\x89PNG", "image/png")]


@tool(approval_mode="always_require")
def pay_bill(amount: int) -> str:
    """Pay a bill."""
    return f"paid {amount}"


framework_tools = {"weather": read_weather, "dishes": order_dishes, "paint": paint}


@sidecall_tool
async def agent_framework_itself(name: str, args: dict[str, Any]) -> Any:
    """Ask Agent Framework itself."""
    known: dict[str, FunctionTool] = {it.name: it for it in framework_tools.values()}
    context = FunctionInvocationContext(function=known[name], arguments=args, kwargs={"table": 7})
    answer = await known[name].invoke(arguments=args, context=context)
    if len(answer) == 1:
        return answer[0].text
    head, _, data = answer[1].uri.partition(";base64,")
    image = {"base64": data, "mime_type": head.removeprefix("data:")}
    return [{"type": "text", "text": answer[0].text}, {"type": "image", **image}]
