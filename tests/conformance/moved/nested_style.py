"""Tools that call tools, classes around functions, and hidden arguments, as LangChain's documents teach them."""

from typing import Annotated, Any, Optional

from langchain_core.callbacks import CallbackManagerForToolRun
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import InjectedToolArg, StructuredTool, Tool, ToolException, tool
from langgraph.prebuilt import InjectedState, ToolRuntime


class LoudTool(StructuredTool):
    """Say what a function answers, loudly."""

    def _run(
        self, *args: Any, config: RunnableConfig, run_manager: Optional[CallbackManagerForToolRun] = None, **kwargs: Any
    ) -> Any:
        """Run the function."""
        return f"{super()._run(*args, config=config, run_manager=run_manager, **kwargs)}!"


class LoudText(Tool):
    """The same of one text."""

    def _run(
        self, *args: Any, config: RunnableConfig, run_manager: Optional[CallbackManagerForToolRun] = None, **kwargs: Any
    ) -> Any:
        """Run the function."""
        return f"{super()._run(*args, config=config, run_manager=run_manager, **kwargs)}!"


def add(a: int, b: int = 2) -> int:
    """Add two numbers."""
    return a + b


def name_thread(prefix: str, config: RunnableConfig) -> str:
    """Name the thread."""
    return f"{prefix} {config['configurable']['thread_id']}"


def upper(text: str) -> str:
    """Say it in capitals."""
    return text.upper()


loud_add = LoudTool.from_function(add, name="loud_add")
loud_thread = LoudTool.from_function(name_thread, name="loud_thread")
loud_upper = LoudText(name="loud_upper", func=upper, description="Say it in capitals.")


@tool
def divide(a: int, b: int) -> float:
    """Divide."""
    if b == 0:
        raise ValueError("b is zero")
    if b < 0:
        raise ToolException("b is negative")
    return a / b


@tool
def ratio(a: int, b: int) -> str:
    """Divide in any case."""
    try:
        return str(divide.invoke({"a": a, "b": b}))
    except ToolException as error:
        return f"refused: {error}"
    except ValueError as error:
        return f"none: {error}"


@tool
async def aratio(a: int, b: int) -> str:
    """Divide in any case."""
    try:
        return str(await divide.ainvoke({"a": a, "b": b}))
    except ToolException as error:
        return f"refused: {error}"
    except ValueError as error:
        return f"none: {error}"


@tool
def find_user(name: str, runtime: ToolRuntime) -> str:
    """Find a user."""
    return f"{name} as {runtime.state['user']} ({runtime.tool_call_id})"


@tool
def greet_user(name: str, runtime: ToolRuntime) -> str:
    """Greet a user whom another tool finds."""
    return "Hello " + find_user.invoke({"name": name, "runtime": runtime})


@tool
def tenant(key: str, who: Annotated[str, InjectedToolArg]) -> str:
    """Look up a key of a tenant."""
    return f"{who}/{key}"


@tool
def look_up(key: str) -> str:
    """Look up a key of the house."""
    return str(tenant.invoke({"key": key, "who": "house"}))


@tool
def last_said(state: Annotated[dict, InjectedState]) -> str:
    """Repeat what was said before the call."""
    return str(state["messages"][-2].content)


@tool
def count_people(messages: Annotated[list[BaseMessage], InjectedState("messages")]) -> str:
    """Count what people and models said."""
    people = sum(isinstance(message, HumanMessage) for message in messages)
    return f"{people} of people, {sum(isinstance(message, AIMessage) for message in messages)} of models"
