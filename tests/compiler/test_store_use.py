"""An async tool that calls the store's sync methods runs in a thread, since the event loop cannot wait for them."""

from typing import Annotated, Any

import pytest

from sidecall import BaseStore, BaseTool, InjectedStore, StructuredTool, ToolContext, ToolRuntime, tool

PLACE = ("notes",)


@tool
async def by_runtime(q: str, runtime: ToolRuntime) -> str:
    """Keep."""
    runtime.store.put(PLACE, "k", {"q": q})
    return q


@tool
async def by_parameter(q: str, kept: Annotated[BaseStore, InjectedStore()]) -> str:
    """Keep."""
    kept.put(PLACE, "k", {"q": q})
    return q


@tool
async def by_variable(q: str, runtime: ToolRuntime) -> str:
    """Find."""
    store = runtime.store
    assert store is not None
    return str(store.search(PLACE)) + q


@tool
async def by_context(q: str, context: ToolContext) -> str:
    """Forget."""
    assert context.store is not None
    context.store.delete(PLACE, q)
    return q


@tool
async def by_inner_function(q: str, runtime: ToolRuntime) -> str:
    """Keep."""

    def keep() -> None:
        runtime.store.put(PLACE, "k", {"q": q})

    keep()
    return q


class Keep(BaseTool):
    """Keep."""

    name: str = "by_class"
    description: str = "Keep."

    async def _arun(self, q: str, runtime: ToolRuntime) -> str:
        runtime.store.put(PLACE, "k", {"q": q})
        return q


async def later(q: str, runtime: ToolRuntime) -> str:
    """Keep."""
    runtime.store.batch([])
    return q


@tool
async def by_awaiting(q: str, runtime: ToolRuntime) -> str:
    """Keep."""
    await runtime.store.aput(PLACE, "k", {"q": q})
    return str({"a": q}.get("a"))


@tool
async def without_store(q: str) -> str:
    """Look up in what only has the name."""
    store = {"a": q}
    return str(store.get("a"))


@tool(executor="inline")
async def as_its_author_says(q: str, runtime: ToolRuntime) -> str:
    """Keep."""
    runtime.store.put(PLACE, "k", {"q": q})
    return q


@tool
def sync(q: str, runtime: ToolRuntime) -> str:
    """Keep."""
    runtime.store.put(PLACE, "k", {"q": q})
    return q


@pytest.mark.parametrize(
    ("made", "executor"),
    [
        (by_runtime, "thread"),
        (by_parameter, "thread"),
        (by_variable, "thread"),
        (by_context, "thread"),
        (by_inner_function, "thread"),
        (Keep(), "thread"),
        (StructuredTool.from_function(coroutine=later), "thread"),
        (by_awaiting, "inline"),
        (without_store, "inline"),
        (as_its_author_says, "inline"),
        (sync, "thread"),
    ],
    ids=lambda it: getattr(it, "name", it),
)
def test_who_waits_for_the_store_runs_in_a_thread(made: Any, executor: str) -> None:
    """Unless its author says where it runs."""
    assert made.compiled.executor == executor
