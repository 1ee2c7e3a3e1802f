"""Tools as people write them for LangChain."""

from typing import Annotated, Any

from langchain_core.messages import ToolMessage as LangChainMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool as LangChainBase
from langchain_core.tools import InjectedToolCallId
from langchain_core.tools import StructuredTool as LangChainStructured
from langchain_core.tools import ToolException as LangChainException
from langchain_core.tools import tool as langchain_tool
from langgraph.types import Command
from pydantic import BaseModel


@langchain_tool
def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


@langchain_tool
async def aadd(a: int, config: RunnableConfig) -> str:
    """Add to what is configured."""
    return f"{a} {config['configurable']}"


class Search(LangChainBase):
    """A tool that is written as a class, without args_schema."""

    name: str = "search"
    description: str = "Search something."

    def _run(self, query: str, limit: int = 2) -> str:
        if query == "refuse":
            raise LangChainException("not that", "and more")
        if query == "crash":
            raise ValueError("secret")
        if query == "invalid":
            Strict(a="x")  # type: ignore[arg-type]  # what fails in the tool's own code
        return query * limit


class Strict(BaseModel):
    """Arguments of the author's own."""

    a: int


@langchain_tool(response_format="content_and_artifact")
def pair(a: int) -> tuple[str, dict[str, int]]:
    """Return two things."""
    return f"found {a}", {"a": a}


@langchain_tool
def own_message(kind: str, tool_call_id: Annotated[str, InjectedToolCallId]) -> Any:
    """Return a message, or a command."""
    message = LangChainMessage("mine", tool_call_id=tool_call_id, artifact=[1], additional_kwargs={"x": 1})
    return message if kind == "message" else Command(update={"messages": [message], "seen": True})


by_schema = LangChainStructured.from_function(
    func=lambda **given: given,
    name="by_schema",
    description="Take what a schema says.",
    args_schema={
        "type": "object",
        "properties": {"a": {"type": "integer", "default": 4}, "b": {"type": "string"}},
        "required": ["b"],
    },
)
open_schema = LangChainStructured.from_function(
    func=lambda **given: given,
    name="open_schema",
    description="Take anything.",
    args_schema={"type": "object", "properties": {}, "additionalProperties": True},
)
