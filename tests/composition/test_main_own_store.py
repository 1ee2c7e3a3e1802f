"""A program's own store stands in the place of the server's."""

from typing import Annotated, Any

import httpx
import pytest
from langgraph.store.memory import InMemoryStore

from sidecall import BaseTool, InjectedStore, Registry, Store, ToolRuntime, tool
from sidecall.main import create_app
from sidecall.settings import Settings


@tool
async def note(text: str, store: Annotated[Store, InjectedStore]) -> str:
    """Write a text down.

    Args:
        text: What to write.
    """
    await store.aput(("notes",), text, {"length": len(text)})
    return type(store).__name__


@tool
def note_in_thread(text: str, runtime: ToolRuntime) -> str:
    """Write a text down.

    Args:
        text: What to write.
        runtime: What has the store.
    """
    runtime.store.put(("notes",), text, {"length": len(text)})
    return type(runtime.store).__name__


@tool(executor="process")
async def note_in_process(text: str, store: Annotated[Store, InjectedStore]) -> str:
    """Write a text down.

    Args:
        text: What to write.
    """
    await store.aput(("notes",), text, {"length": len(text)})
    [item] = await store.asearch(("notes",))
    return str(item.key)


class Notes:
    """What has no more than a tool's own calls need, and nothing to await."""

    def __init__(self) -> None:
        self.kept: dict[tuple[Any, str], Any] = {}

    def get(self, namespace: Any, key: str) -> Any:
        """Return what was kept."""
        return self.kept.get((namespace, key))

    def put(self, namespace: Any, key: str, value: Any) -> None:
        """Keep it."""
        self.kept[namespace, key] = value

    def delete(self, namespace: Any, key: str) -> None:
        """Forget it."""
        self.kept.pop((namespace, key), None)

    def search(self, namespace: Any, /, **_: Any) -> Any:
        """List all."""
        return [value for (where, _), value in self.kept.items() if where == namespace]


async def send(made: BaseTool, store: Any) -> Any:
    """Have a server with this store make a call of a tool, and return its answer."""
    app = create_app(Settings(processes=1), Registry([made]), store=store)
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://sidecall") as client:
            body = {"name": made.name, "args": {"text": "tea"}, "id": "1"}
            return (await client.post("/tool_calls", json=body)).json()


@pytest.mark.parametrize(
    ("made", "content"),
    [(note, "InMemoryStore"), (note_in_thread, "InMemoryStore"), (note_in_process, "tea")],
    ids=["inline", "thread", "process"],
)
async def test_tools_get_the_programs_own_store(made: BaseTool, content: str) -> None:
    """As it is, wherever they run; a tool process asks the server for it."""
    store = InMemoryStore()

    answer = await send(made, store)

    assert answer["content"] == content
    assert [(item.key, item.value) for item in store.search(("notes",))] == [("tea", {"length": 3})]


async def test_a_store_without_async_methods_serves_tools_that_need_none() -> None:
    """It need not have more than they ask for."""
    store = Notes()

    answer = await send(note_in_thread, store)

    assert (answer["content"], store.kept) == ("Notes", {(("notes",), "tea"): {"length": 3}})
