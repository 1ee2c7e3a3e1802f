"""Tools that call tools in other ways: by their errors, by ToolCalls, side by side, with the config of the outer call."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, ToolException, tool
from langgraph.prebuilt import InjectedState
from pydantic import ValidationError


class CodeError(Exception):
    def __init__(self, code: int) -> None:
        super().__init__(f"code {code}")
        self.code = code


@tool
def base(n: int) -> int:
    """Give a number back."""
    if n == 0:
        raise CodeError(7)
    if n < 0:
        raise LookupError("negative")
    return n


@tool
def handled(n: int) -> int:
    """Give a small number back."""
    if n > 2:
        raise ToolException("too many")
    return n


handled.handle_tool_error = "sorry"


@tool
def attributes(n: int) -> str:
    """Look at what an error carries."""
    try:
        return str(base.run({"n": n}))
    except CodeError as error:
        return f"{error.code} {error.args}"
    except LookupError as error:
        return repr(error)


@tool
def message(n: int) -> str:
    """Call as a model does."""
    said = base.invoke({"name": "base", "args": {"n": n}, "id": "inner", "type": "tool_call"})
    return f"{type(said).__name__} {said.content} {said.tool_call_id} {said.status} {said.name}"


@tool
async def gather(n: int) -> str:
    """Call side by side."""
    answers = await asyncio.gather(*(base.ainvoke({"n": it}) for it in range(n)), return_exceptions=True)
    return str([type(it).__name__ if isinstance(it, Exception) else it for it in answers])


@tool
def refused(n: int) -> str:
    """Call wrongly."""
    try:
        return str(base.invoke({"m": n}))
    except ValidationError as error:
        return f"{error}"


@tool
def worded(n: int) -> str:
    """Call what words its own failures."""
    said = handled.invoke({"name": "handled", "args": {"n": n}, "id": "q", "type": "tool_call"})
    return f"{handled.invoke({'n': n})} {said.status} {said.content}"


@tool
def whose(k: str, config: RunnableConfig) -> str:
    """Say whose it is."""
    return f"{k} of {config.get('configurable', {}).get('user_id')}"


@tool
def inherit(n: int) -> str:
    """Hand no config on."""
    return whose.invoke({"k": "a"})


@tool
async def inherit_later(n: int) -> str:
    """Hand no config on."""
    return await whose.ainvoke({"k": "a"})


@tool
def inherit_many(n: int) -> str:
    """Hand no config on to several."""
    return str(whose.batch([{"k": str(it)} for it in range(n)]))


@tool
def config_on(n: int, config: RunnableConfig) -> str:
    """Hand configs on."""
    other = whose.invoke({"k": "b"}, {"configurable": {"user_id": "another"}})
    return f"{whose.invoke({'k': 'a'}, config)}, {other}, {whose.with_config(tags=['t']).invoke({'k': 'c'})}"


@tool
def recurse(n: int) -> str:
    """Call itself."""
    return "0" if n <= 0 else f"{n}{recurse.invoke({'n': n - 1})}"


@tool
def chained(n: int) -> str:
    """Raise an error from another."""
    try:
        return str(base.invoke({"n": n}))
    except CodeError as error:
        raise ToolException(f"it was {error.code}") from error


chained.handle_tool_error = True


@tool
def threads(n: int) -> str:
    """Call from threads."""
    with ThreadPoolExecutor() as pool:
        return str(sorted(pool.map(lambda it: base.invoke({"n": it}), range(1, n + 1))))


@tool
def last_call(n: int, state: Annotated[dict, InjectedState]) -> str:
    """Look at the calls of the last message."""
    last = state["messages"][-1]
    return f"{last.tool_calls} {last.pretty_repr()} {state['messages'][0].content_blocks}"


class Router(BaseTool):
    name: str = "router"
    description: str = "Call one of several tools."
    tools: list[BaseTool]

    def _run(self, which: str, n: int) -> Any:
        known = {it.name: it for it in self.tools}
        if which not in known:
            raise ToolException(f"no {which}, only {sorted(known)}")
        return known[which].invoke({"n": n})


router = Router(tools=[base, handled], handle_tool_error=True)
