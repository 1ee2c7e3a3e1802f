"""Twelve tools of somebody who writes classes, and functions without decorators."""

from typing import ClassVar, Optional, Type

from langchain_core.callbacks import AsyncCallbackManagerForToolRun, CallbackManagerForToolRun
from langchain_core.callbacks.manager import Callbacks
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, BaseToolkit, StructuredTool, Tool, ToolException
from langchain_core.tools.base import ArgsSchema
from pydantic import BaseModel, Field, field_validator


class CalculatorInput(BaseModel):
    """What to multiply."""

    a: int = Field(description="first number")
    b: int = Field(description="second number")


class CustomCalculatorTool(BaseTool):
    name: str = "Calculator"
    description: str = "useful for when you need to answer questions about math"
    args_schema: Optional[ArgsSchema] = CalculatorInput
    return_direct: bool = True

    def _run(self, a: int, b: int, run_manager: Optional[CallbackManagerForToolRun] = None) -> str:
        """Use the tool."""
        return str(a * b)

    async def _arun(self, a: int, b: int, run_manager: Optional[AsyncCallbackManagerForToolRun] = None) -> str:
        """Use the tool asynchronously."""
        return self._run(a, b, run_manager=run_manager.get_sync())


class SearchInput(BaseModel):
    query: str = Field(description="should be a search query")

    @field_validator("query")
    @classmethod
    def _not_empty(cls, query: str) -> str:
        if not query.strip():
            raise ValueError("query must not be empty")
        return query


class CustomSearchTool(BaseTool):
    name: str = "custom_search"
    description: str = "useful for when you need to answer questions about current events"
    args_schema: Type[BaseModel] = SearchInput
    handle_validation_error: bool = True

    def _run(self, query: str, run_manager: Optional[CallbackManagerForToolRun] = None) -> str:
        """Use the tool."""
        return f"LangChain: {query}"

    async def _arun(self, query: str, run_manager: Optional[AsyncCallbackManagerForToolRun] = None) -> str:
        """Use the tool asynchronously."""
        raise NotImplementedError("custom_search does not support async")


class Untyped(BaseTool):
    """Without a schema, and with a manager that nobody annotated."""

    name: str = "untyped"
    description: str = "Say who listens."
    prefix: str = "heard by"

    def _run(self, who: str, run_manager=None) -> str:
        assert run_manager is not None
        return f"{self.prefix} {who} {len(run_manager.handlers)}"


class Configured(BaseTool):
    name: str = "configured"
    description: str = "Read the config."

    def _run(self, key: str, config: RunnableConfig) -> str:
        return str(config["configurable"].get(key))


class ListTool(BaseTool):
    name: str = "list_tables"
    description: str = "Input is an empty string, output is a comma-separated list of tables in the database."
    tables: ClassVar[list[str]] = ["users", "orders"]

    def _run(self, tool_input: str = "", run_manager: Optional[CallbackManagerForToolRun] = None) -> str:
        """Get a comma-separated list of table names."""
        return ", ".join(self.tables)


class Artful(BaseTool):
    name: str = "artful"
    description: str = "Give two things."
    response_format: str = "content_and_artifact"
    handle_tool_error: bool = True

    def _run(self, n: int) -> tuple[str, dict[str, int]]:
        if n < 0:
            raise ToolException(f"{n} is below zero")
        return f"{n} things", {"n": n}


class Nothing(BaseTool):
    name: str = "nothing"
    description: str = "Take nothing."

    def _run(self) -> None:
        return None


class Kit(BaseToolkit):
    """Tools that are made together."""

    unit: str = "m"

    def get_tools(self) -> list[BaseTool]:
        """Get the tools in the toolkit."""

        def measure(length: float) -> str:
            return f"{length} {self.unit}"

        return [StructuredTool.from_function(measure, name="measure", description="Measure a length.")]


def shout(text: str, callbacks: Callbacks = None) -> str:
    return text.upper() + ("!" if callbacks is not None else "")


def whisper(text: str, config: RunnableConfig) -> str:
    return f"{text.lower()} {config['configurable'].get('who')}"


async def apower(base: int, exponent: int = 2) -> int:
    return base**exponent


def power(base: int, exponent: int = 2) -> int:
    """Raise a number to a power."""
    return base**exponent


calculator = CustomCalculatorTool()
search = CustomSearchTool()
untyped = Untyped(prefix="listened to by")
configured = Configured()
list_tables = ListTool()
artful = Artful()
nothing = Nothing()
[measure] = Kit(unit="km").get_tools()
shout_tool = Tool(name="shout", func=shout, description="Shout a text.")
whisper_tool = Tool.from_function(whisper, "whisper", "Whisper a text.", False)
power_tool = StructuredTool.from_function(power, apower, "power", None, True)


class PowerInput(BaseModel):
    """Raise a number, as its schema says."""

    base: int
    exponent: int = Field(2, ge=0)


by_schema = StructuredTool.from_function(func=lambda base, exponent: base**exponent, name="by", args_schema=PowerInput)
