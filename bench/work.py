"""The work of one call done by hand with pydantic: what every floor does, and nothing else."""

from functools import cache
from typing import Any, Literal

from pydantic import BaseModel, Field


class ToolCall(BaseModel):
    """A call as LangChain writes it."""

    name: str
    args: dict[str, Any]
    id: str
    type: Literal["tool_call"] = "tool_call"


class EchoArguments(BaseModel):
    """The arguments of `echo`."""

    text: str


class Item(BaseModel):
    """One of the rows that `make_rows` makes."""

    id: int
    name: str
    price: float
    is_sold: bool
    note: str | None
    text: str


class TakeArguments(BaseModel):
    """The arguments of `take`."""

    items: list[Item]


# Models of our own, not the server's: were they shared, a slower one would slow the floor as well and pass unseen.
class ToolMessage(BaseModel):
    """An answer with LangChain's nine keys."""

    content: str
    artifact: Any = None
    tool_call_id: str
    name: str
    status: Literal["success", "error"] = "success"
    type: Literal["tool"] = "tool"
    id: str | None = None
    additional_kwargs: dict[str, Any] = Field(default_factory=dict)
    response_metadata: dict[str, Any] = Field(default_factory=dict)


async def echo(text: str) -> str:
    """Return the text unchanged."""
    return text


async def run(call: ToolCall) -> ToolMessage:
    """Validate the arguments, run the function, say what it returned."""
    arguments = EchoArguments.model_validate(call.args)
    return ToolMessage(content=await echo(arguments.text), tool_call_id=call.id, name=call.name)


async def answer(body: bytes) -> bytes:
    """Do all of it, from the bytes of a request to the bytes of an answer."""
    message = await run(ToolCall.model_validate_json(body))
    return message.model_dump_json().encode()


@cache
def make_rows(count: int) -> list[dict[str, Any]]:
    """Make rows of six fields, some hundred bytes each, once: what they cost is no server's."""
    return [
        {"id": it, "name": f"name {it}", "price": it * 1.5, "is_sold": it % 2 == 0, "note": None, "text": "x" * 30}
        for it in range(count)
    ]
