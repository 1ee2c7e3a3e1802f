"""A LangChain tool whose async method refuses runs by its sync one, as it does at home where nobody awaits it."""

# ruff: noqa: ARG002  methods have the parameters that LangChain documents

from collections.abc import Awaitable
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler, CallbackManagerForToolRun
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool
from langchain_core.tools import Tool as LangChainSimple

from sidecall import tool
from tests.kit.calls import run


class Old(BaseTool):
    """The form that LangChain's documents had for years."""

    name: str = "it"
    description: str = "Run."

    def _run(self, q: str, run_manager: CallbackManagerForToolRun | None = None) -> str:
        return f"sync {q} {type(run_manager).__name__}"

    async def _arun(self, q: str, run_manager: Any = None) -> str:
        raise NotImplementedError("it does not support async")


class Inherits(Old):
    """Refuse by a method that is inherited."""

    def _run(self, q: str, run_manager: Any = None) -> str:
        return f"inherited {q}"


class TakesAnything(BaseTool):
    """Refuse all that is sent, while the sync method names what it wants of LangChain."""

    name: str = "it"
    description: str = "Run."

    def _run(self, q: str, config: RunnableConfig, run_manager: CallbackManagerForToolRun | None = None) -> str:
        return f"{q} {config['configurable']} {type(run_manager).__name__}"

    async def _arun(self, *args: Any, **kwargs: Any) -> str:
        """Refuse."""
        raise NotImplementedError


class NotAsync(Old):
    """Refuse before there is anything to await."""

    def _arun(self, q: str, run_manager: Any = None) -> Awaitable[str]:  # type: ignore[override]
        raise NotImplementedError(f"no async for {q}")


class Sometimes(Old):
    """Refuse some calls."""

    async def _arun(self, q: str, run_manager: Any = None) -> str:
        if q == "x":
            raise NotImplementedError("not this one")
        return f"async {q}"


class Bare(Old):
    """Refuse some calls, where the sync method takes less."""

    def _run(self, q: str) -> str:  # type: ignore[override]
        return f"bare {q}"

    async def _arun(self, q: str, run_manager: Any = None) -> str:
        if run_manager is not None:
            raise NotImplementedError
        return f"async {q}"


class Counting(Old):
    """Change something of itself."""

    count: int = 0

    def _run(self, q: str, run_manager: Any = None) -> str:
        self.count += 1
        return f"{q} {self.count}"


def shout(q: str) -> str:
    """Shout."""
    return q.upper()


async def refuse(q: str) -> str:
    """Refuse."""
    raise NotImplementedError("no async")


async def refuse_some(q: str) -> str:
    """Refuse some."""
    if q == "x":
        raise NotImplementedError
    return q


STRUCTURED = StructuredTool.from_function(func=shout, coroutine=refuse, name="it")
STRUCTURED_SOMETIMES = StructuredTool.from_function(func=shout, coroutine=refuse_some, name="it")
SIMPLE = LangChainSimple("it", shout, "Shout.", coroutine=refuse)


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(Old(), id="only raises"),
        pytest.param(Old(handle_validation_error=True), id="with a handler"),
        pytest.param(Inherits(), id="inherited"),
        pytest.param(TakesAnything(), id="other parameters"),
        pytest.param(NotAsync(), id="not async"),
        pytest.param(Sometimes(), id="some calls"),
        pytest.param(Bare(), id="sync takes less"),
        pytest.param(STRUCTURED, id="coroutine"),
        pytest.param(STRUCTURED_SOMETIMES, id="coroutine, some calls"),
        pytest.param(SIMPLE, id="one text"),
    ],
)
async def test_it_answers_as_its_sync_method_does(made: Any) -> None:
    """Which is what LangChain answers to `invoke`; awaited it raises the NotImplementedError."""
    with pytest.raises(NotImplementedError):
        await made.ainvoke({"q": "x"})
    home = made.invoke({"q": "x"})

    message = await run(tool(made), {"q": "x"})

    assert (message.content, message.status) == (home, "success")


async def test_the_async_method_serves_where_it_does_not_refuse() -> None:
    """Call by call."""
    assert (await run(tool(Sometimes()), {"q": "y"})).content == "async y"
    assert (await run(tool(STRUCTURED_SOMETIMES), {"q": "y"})).content == "y"


async def test_what_it_changes_of_itself_is_changed() -> None:
    """It is no copy that runs."""
    made = Counting()
    offered = tool(made)

    assert [(await run(offered, {"q": "x"})).content for _ in range(2)] == ["x 1", "x 2"]
    assert made.count == 2


class Heard(BaseCallbackHandler):
    """Note what is heard."""

    def __init__(self) -> None:
        self.events: list[Any] = []

    def on_tool_start(self, serialized: Any, input_str: str, **_: Any) -> None:
        """Note the start."""
        self.events.append(("start", input_str))

    def on_tool_end(self, output: Any, **_: Any) -> None:
        """Note the end."""
        self.events.append(("end", output.content))

    def on_tool_error(self, error: BaseException, **_: Any) -> None:
        """Note the failure."""
        self.events.append(("error", type(error)))


@pytest.mark.parametrize("kind", [Old, Sometimes])
async def test_its_callbacks_hear_one_run(kind: Any) -> None:
    """And nothing of the refusal."""
    heard = Heard()

    await run(tool(kind(callbacks=[heard])), {"q": "x"})

    assert heard.events == [("start", "{'q': 'x'}"), ("end", heard.events[-1][1])]


class Deep(Old):
    """Fail where the work is done."""

    async def _arun(self, q: str, run_manager: Any = None) -> str:
        return await _ask_elsewhere(q)


async def _ask_elsewhere(q: str) -> str:
    raise NotImplementedError(q)


async def test_what_its_work_raises_is_a_failure_of_it() -> None:
    """Something may have been done already."""
    message = await run(tool(Deep()), {"q": "x"})

    assert message.response_metadata["error"]["kind"] == "execution_error"


class NoneAtAll(Old):
    """Refuse both ways."""

    def _run(self, q: str, run_manager: Any = None) -> str:
        raise NotImplementedError


async def test_a_tool_that_refuses_both_ways_fails() -> None:
    """As at home."""
    message = await run(tool(NoneAtAll()), {"q": "x"})

    assert message.response_metadata["error"]["kind"] == "execution_error"
