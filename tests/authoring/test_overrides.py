"""A subclass of StructuredTool may run its function in its own way."""

from typing import Annotated, Any

from pydantic import Field

from sidecall import InjectedState, RunnableConfig, StructuredTool, Tool


class Counting(StructuredTool):
    """Count the calls."""

    calls: list[Any] = Field(default_factory=list)

    def _run(self, *args: Any, config: RunnableConfig, **kwargs: Any) -> Any:
        self.calls.append((kwargs, config["configurable"]))
        return super()._run(*args, **kwargs)


class Later(StructuredTool):
    """Run asynchronously, and not otherwise."""

    def _run(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    async def _arun(self, *args: Any, **kwargs: Any) -> Any:
        return f"later {await super()._arun(*args, **kwargs)}"


class Loud(Tool):
    """Say it louder."""

    def _run(self, *args: Any, **kwargs: Any) -> Any:
        return super()._run(*args, **kwargs) + "!"


def add(a: int, b: int = 1, *, user: Annotated[str, InjectedState("user")] = "") -> str:
    """Add numbers."""
    return f"{user}{a + b}"


async def test_the_class_runs_the_function() -> None:
    """With the function's arguments and what the method asks for itself, which the model does not see."""
    counting, later = Counting.from_function(add), Later.from_function(add)
    call = {"type": "tool_call", "id": "c", "args": {"a": "1"}}

    first = await counting.ainvoke(call, state={"user": "Ada"}, context={"x": 1})

    assert (first.content, counting.args.keys()) == ("Ada2", {"a", "b"})
    assert counting.calls == [({"a": 1, "b": 1, "user": "Ada"}, {"x": 1})]
    assert await later.ainvoke({"a": 1, "b": 2}) == "later 3"


def test_a_tool_of_one_text_too() -> None:
    """It gets the text by position."""
    assert Loud(name="loud", func=str.upper, description="Shout.").invoke("a") == "A!"
