"""Tools that ask their server from a process; a process loads this file again to find them."""

import asyncio
import os
import threading
from typing import Annotated, Any

from sidecall import ApprovalRequired, GetOp, InjectedStore, PutOp, Store, ToolContext, tool


@tool(executor="process")
def refund(amount: int, context: ToolContext) -> str:
    """Pay money back, if a person wants that.

    Args:
        amount: How much.
    """
    if amount > 100 and (not context.approved or amount > 1000):
        raise ApprovalRequired(f"Pay {amount} back?", preview={"amount": amount}, payload=["account", object])
    return f"refunded {amount}"


@tool(executor="process")
def use_store(store: Annotated[Store, InjectedStore]) -> Any:
    """Use all that a store has."""
    store.put(("a", "b"), "one", {"n": 1}, ttl=5)
    store.put(("a",), "two", "text")
    store.delete(("a",), "none")
    found = store.search(("a",), filter={"n": {"$gt": 0}}, limit=5)
    item = store.get(("a",), "two")
    [gone, _] = store.batch([GetOp(("a",), "three"), PutOp(("a",), "none", None)])
    assert item is not None
    return [item.value, item.created_at.tzinfo is not None, gone, [it.key for it in found], store.list_namespaces()]


@tool(executor="process")
async def use_store_together(context: ToolContext) -> Any:
    """Use it from many tasks at once."""
    store = context.store
    assert store is not None
    await asyncio.gather(*(store.aput(("n",), str(number), number) for number in range(20)))
    items = await store.asearch(("n",), limit=50)
    try:
        store.put(("n",), "blocked", 0)
    except RuntimeError as error:
        blocked = type(error).__name__
    left = await store.aget(("n",), "blocked")
    return [sorted(item.value for item in items) == list(range(20)), blocked, left]


@tool(executor="process")
def misuse_store(store: Annotated[Store, InjectedStore]) -> Any:
    """Ask for what cannot be done, and say what comes of it."""
    wrong: list[Any] = [
        lambda: store.put(("a",), "set", {1}),
        lambda: store.put(("a",), "nan", float("nan")),
        lambda: store.put(("a",), "large", "x" * 2_000_000),
        lambda: store.put(("a",), "larger", "x" * 17_000_000),
        lambda: store.search(("a",), query="sense"),
        lambda: store.search(("a",), filter={"n": {"$no": 0}}),
    ]
    told = []
    for do in wrong:
        try:
            do()
        except Exception as error:
            told.append(type(error).__name__)
    return told


@tool(executor="process")
def use_store_in_a_copy(store: Annotated[Store, InjectedStore]) -> int:
    """Use it in a copy of this process, which cannot."""
    pid = os.fork()
    if pid == 0:
        try:
            store.put(("a",), "copy", 1)
        except RuntimeError:
            os._exit(7)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


LATE: list[str] = []
ASKING: list[threading.Thread] = []
NEXT = threading.Event()


@tool(executor="process")
def use_store_late(store: Annotated[Store, InjectedStore]) -> list[str]:
    """Use it in two threads when the call is over, and return what has come of that in this process.

    One asks again and again, the other while the next call runs, which waits for them: only a refusal ends them.
    """

    def put() -> None:
        while True:
            try:
                store.put(("late",), "one", 1)
            except RuntimeError as error:
                LATE.append(str(error))
                return

    def put_later() -> None:
        NEXT.wait()
        put()

    NEXT.set()
    for thread in ASKING:
        thread.join()
    NEXT.clear()
    before = [*LATE]
    ASKING[:] = [threading.Thread(target=target, daemon=True) for target in (put, put_later)]
    for thread in ASKING:
        thread.start()
    return before


@tool(executor="process", timeout=1)
def wait_for_store(store: Annotated[Store, InjectedStore]) -> None:
    """Use one that never answers."""
    store.get(("a",), "one")


@tool(executor="process")
def peek(store: Annotated[Store, InjectedStore]) -> bool:
    """Look whether there is something."""
    return store.get(("a",), "one") is not None
