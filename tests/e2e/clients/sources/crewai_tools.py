"""Tools as CrewAI's pages have them: a product, a class of one's own, an async one."""

from typing import Any

from crewai.tools import BaseTool, tool
from pydantic import BaseModel, Field

from sidecall import tool as sidecall_tool


@tool("Multiplication Tool")
def multiply_numbers(first: int, second: int = 2) -> int:
    """Multiply two numbers."""
    if first < 0:
        raise ValueError("the first is not negative here")
    return first * second


class SearchInput(BaseModel):
    """What is searched."""

    query: str = Field(..., description="The words.")
    tags: list[str] = Field(default_factory=list)


class Search(BaseTool):
    """Search."""

    name: str = "search_pages"
    description: str = "Search pages for words."
    args_schema: type[BaseModel] = SearchInput
    result_as_answer: bool = True

    def _run(self, query: str, tags: list[str]) -> dict[str, Any]:
        return {"query": query, "tags": tags}


@tool
async def fetch_later(topic: str) -> str:
    """Fetch something later."""
    return f"{topic}, later"


crewai_tools = [multiply_numbers, Search(), fetch_later]


@sidecall_tool
def crewai_itself(name: str, args: dict[str, Any]) -> Any:
    """Ask CrewAI itself."""
    known = {"multiplication_tool": multiply_numbers, "search_pages": crewai_tools[1], "fetch_later": fetch_later}
    return known[name].run(**args)
