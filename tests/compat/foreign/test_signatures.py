"""The markers of LangChain, LangGraph and the OpenAI Agents SDK mean here what they mean there."""

from typing import Annotated, Any

import pytest
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import InjectedToolArg, InjectedToolCallId
from langgraph.prebuilt import InjectedState, InjectedStore, ToolRuntime
from pydantic import BaseModel

import sidecall
from sidecall import ToolContext, tool
from sidecall.compiler.injection_plan import is_instance_of, match_marker, match_type
from sidecall.features.store.item_store import ItemStore
from sidecall.features.store.memory_store import MemoryItems
from sidecall.kernel.core.errors import MissingContext
from tests.compat.foreign import agents_sdk


class OwnMarker(InjectedToolArg):
    """A marker that somebody derived."""


class RunConfig:
    """A class that only sounds like theirs."""

    __module__ = "my_agents.run_context"


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (InjectedToolArg, "context"),
        (InjectedToolArg(), "context"),
        (OwnMarker, "context"),
        (InjectedToolCallId, "call_id"),
        (InjectedState("user"), "state"),
        (InjectedStore, "store"),
        (sidecall.InjectedToolArg, None),  # ours
        (ToolRuntime, None),  # an annotation, no marker
        ("text", None),
        (None, None),
    ],
)
def test_markers_are_known_by_name(part: Any, expected: str | None) -> None:
    """As classes and as instances, and the most special name counts."""
    assert match_marker(part) == expected


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (ToolRuntime, "tool_runtime"),
        (agents_sdk.RunContextWrapper, "tool_context"),
        (agents_sdk.ToolContext, "tool_context"),
        (RunnableConfig, "runnable_config"),
        (ToolContext, None),  # ours
        (RunConfig, None),
        (str, None),
        ("text", None),
    ],
)
def test_types_are_known_by_name(annotation: Any, expected: str | None) -> None:
    """Of the package that they come from."""
    assert match_type(annotation) == expected


def test_an_object_is_known_by_its_class() -> None:
    """Derived ones too."""
    assert is_instance_of(OwnMarker(), "langchain_core", "InjectedToolArg")
    assert not is_instance_of(object(), "langchain_core", "InjectedToolArg")


@tool
def moved(
    x: int,
    runtime: ToolRuntime,
    wrapper: agents_sdk.RunContextWrapper[dict[str, str]],
    call_id: Annotated[str, InjectedToolCallId],
    state: Annotated[dict[str, Any], InjectedState],
    one: Annotated[str, InjectedState("one")],
    store: Annotated[Any, InjectedStore()],
    user: Annotated[str, InjectedToolArg],
    config: RunnableConfig,
    maybe: agents_sdk.ToolContext[Any] | None = None,
    own: Annotated[str, OwnMarker] | None = None,
) -> list[Any]:
    """Take one of each."""
    assert isinstance(maybe, ToolContext)
    contexts = [runtime.state, runtime.context, runtime.tool_call_id, runtime.store is store]
    rest = {key: value for key, value in config.items() if key != "callbacks"}
    return [x, *contexts, wrapper.context, maybe.tool_name, call_id, state, one, user, rest, own]


def test_a_function_that_was_written_for_them_is_filled_in() -> None:
    """What their runtime would have done, the server does."""
    filled = moved.invoke(
        {"x": 1, "user": "forged"}, state={"one": "first"}, context={"user": "ada"}, store=ItemStore(MemoryItems())
    )

    assert list(moved.compiled.args_schema.flat["properties"]) == ["x"]
    assert filled == [
        1,
        {"one": "first"},
        {"user": "ada"},
        filled[3],
        True,
        {"user": "ada"},
        "moved",
        filled[7],
        {"one": "first"},
        "first",
        "ada",
        {"tags": [], "metadata": {}, "recursion_limit": 25, "configurable": {"user": "ada"}},
        None,
    ]
    assert filled[3] == filled[7]


def test_what_they_do_not_find_is_the_callers_fault() -> None:
    """As with our markers."""
    with pytest.raises(MissingContext) as caught:
        moved.invoke({"x": 1}, state={"one": "first"}, store=ItemStore(MemoryItems()))

    assert caught.value.message == "The tool needs `context.user` beside the call, for its parameter `user`."


class Arguments(BaseModel):
    """Arguments with one that is injected."""

    x: int
    user: Annotated[str, InjectedToolArg]


def test_their_markers_count_in_a_model_too() -> None:
    """The field is neither shown nor taken."""

    @tool(args_schema=Arguments)
    def greet(x: int, user: str) -> str:
        """Greet."""
        return f"{x} {user}"

    assert list(greet.compiled.args_schema.flat["properties"]) == ["x"]
    assert greet.invoke({"x": 1, "user": "forged"}, context={"user": "ada"}) == "1 ada"
