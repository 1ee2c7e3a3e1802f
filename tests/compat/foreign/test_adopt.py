"""Tools of other libraries are known by their shape."""

from types import SimpleNamespace
from typing import Any

import pytest
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import BaseToolkit

import sidecall
from sidecall.compat.foreign.adopt import adopt, is_foreign_tool, is_foreign_toolkit
from sidecall.kernel.core.errors import DefinitionError
from tests.authoring.test_toolkit import Counter
from tests.compat.foreign.agents_sdk import FunctionTool
from tests.compat.foreign.langchain_tools import Search, add
from tests.compat.foreign.test_agents import hand_built


class Proxy:
    """Answer to every name."""

    def __getattr__(self, name: str) -> Any:
        return lambda *_: name


class Kit(BaseToolkit):
    """A toolkit of LangChain's."""

    def get_tools(self) -> list[Any]:
        """Return one tool."""
        return [add]


class AsyncKit(BaseToolkit):
    """A toolkit of LangChain's whose tools are fetched."""

    async def get_tools(self) -> list[Any]:  # type: ignore[override]
        """Fetch them."""
        return [add]


class Client:
    """Something whose tools are fetched, or chosen."""

    async def get_tools(self) -> list[Any]:
        """Fetch them."""
        return []


class Choice:
    """Something that has to be told which tools."""

    def get_tools(self, names: list[str]) -> list[str]:
        """Choose them."""
        return names


@pytest.mark.parametrize(
    ("thing", "expected"),
    [
        pytest.param(add, True, id="LangChain's"),
        pytest.param(Search(), True, id="a class's instance"),
        pytest.param(hand_built(), True, id="the Agents SDK's"),
        pytest.param(sidecall.tool(add), False, id="ours"),
        pytest.param(Search, False, id="a class"),
        pytest.param(FunctionTool, False, id="another class"),
        pytest.param(RunnableLambda(print), False, id="a runnable"),
        pytest.param(Proxy(), False, id="a proxy"),
        pytest.param(print, False, id="a function"),
        pytest.param(None, False, id="nothing"),
    ],
)
def test_a_tool_is_known(thing: Any, expected: bool) -> None:
    """Without asking it anything."""
    assert is_foreign_tool(thing) is expected


@pytest.mark.parametrize(
    ("thing", "expected"),
    [
        pytest.param(Kit(), True, id="LangChain's"),
        pytest.param(SimpleNamespace(get_tools=list), False, id="of that shape"),
        pytest.param(Counter(start=1), False, id="ours"),
        pytest.param(AsyncKit(), False, id="LangChain's, async"),
        pytest.param(Kit, False, id="a class"),
        pytest.param(Client(), False, id="async"),
        pytest.param(Choice(), False, id="with arguments"),
        pytest.param(SimpleNamespace(get_tools=[]), False, id="no function"),
        pytest.param(Proxy(), False, id="a proxy"),
    ],
)
def test_a_toolkit_is_known(thing: Any, expected: bool) -> None:
    """LangChain's, by a `get_tools` that can be called as it is."""
    assert is_foreign_toolkit(thing) is expected


def test_anything_else_is_left_to_others() -> None:
    """A function, for instance."""
    assert adopt(print, "name", {}) is None


def test_a_retriever_is_a_runnable() -> None:
    """Of one text."""

    class Found(BaseRetriever):
        """Find what is asked for."""

        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Any]:
            return [query, run_manager is not None]

    assert sidecall.tool("find", Found()).invoke({"query": "x"}) == ["x", True]


class Unwilling:
    """Have everything that a tool of LangChain has, and say nothing of it."""

    name = "unwilling"
    description = "Be unwilling."
    args_schema = None
    response_format = "content"
    ainvoke = None

    @property
    def tool_call_schema(self) -> Any:
        """Say nothing."""
        raise RuntimeError("not now")

    def get_input_schema(self) -> Any:
        """Say nothing."""
        raise RuntimeError("not now")


def test_whatever_another_library_raises_stops_the_start() -> None:
    """With the place, the name and the reason."""
    with pytest.raises(DefinitionError) as caught:
        sidecall.tool(Unwilling())

    assert caught.value.message == (
        "tests.compat.foreign.test_adopt.Unwilling: tool 'unwilling' cannot be taken over: RuntimeError: not now"
    )


def test_the_name_comes_first() -> None:
    """Before what is offered under it."""
    with pytest.raises(DefinitionError) as caught:
        sidecall.tool(RunnableLambda(print), "name")  # type: ignore[call-overload]  # what is being refused

    assert caught.value.message == "the name comes first: tool('name', runnable)."


def test_a_function_can_be_given_after_its_name() -> None:
    """As in LangChain."""
    assert sidecall.tool("shout", str.upper).name == "shout"
