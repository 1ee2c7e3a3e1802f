"""Work in threads: bounded by its kind, and callers take turns."""

import ast
import asyncio
import contextvars
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from sidecall.kernel.concurrency.pools import CALL, NOBODY, Pool
from sidecall.kernel.core.context import Caller
from tests.kit.sources import SOURCES, name_of

A, B = ("a", "one"), ("b", "one")
PATIENCE = 20


class Gate:
    """Holds threads up until it is opened, and counts those that are inside."""

    def __init__(self) -> None:
        self.order: list[str] = []
        self.inside = self.most = 0
        self._lock = threading.Lock()
        self._open = threading.Event()
        self.entered = threading.Semaphore(0)

    def pass_through(self, name: str) -> str:
        """Wait until the gate is open."""
        with self._lock:
            self.order.append(name)
            self.inside += 1
            self.most = max(self.most, self.inside)
        self.entered.release()
        assert self._open.wait(PATIENCE)
        with self._lock:
            self.inside -= 1
        return name

    async def wait_for(self, count: int) -> None:
        """Wait until so many more are inside."""
        for _ in range(count):
            assert await asyncio.to_thread(self.entered.acquire, timeout=PATIENCE)

    def open(self) -> None:
        """Let all through."""
        self._open.set()


async def test_work_is_done_with_the_callers_context() -> None:
    """And its result, or its error, comes back."""
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable")
    variable.set("seen")
    pool = Pool("test", 2)

    assert await pool.run(lambda one, *, two: (one, two, variable.get()), 1, two=2) == (1, 2, "seen")
    with pytest.raises(ZeroDivisionError):
        await pool.run(lambda: 1 / 0)


async def test_one_caller_has_half_of_the_threads_at_most() -> None:
    """So that another one has its turn at once."""
    pool, gate = Pool("test", 4), Gate()
    slow = [asyncio.create_task(pool.run_for(A, gate.pass_through, "a")) for _ in range(8)]
    await gate.wait_for(2)

    assert await pool.run_for(B, lambda: "quick") == "quick"
    assert gate.inside == 2
    gate.open()
    assert await asyncio.gather(*slow) == ["a"] * 8
    assert gate.most == 2


async def test_no_more_than_the_threads_are_at_work() -> None:
    """What is for no caller may have all of them."""
    pool, gate = Pool("test", 3), Gate()
    slow = [asyncio.create_task(pool.run(gate.pass_through, "a")) for _ in range(9)]
    await gate.wait_for(3)
    gate.open()
    await asyncio.gather(*slow)

    assert gate.most == 3


async def test_callers_take_turns() -> None:
    """One with much waiting holds up another by one piece of work."""
    pool, gate = Pool("test", 1), Gate()
    work = [pool.run_for(caller, gate.pass_through, name) for caller, name in [(A, "a")] * 4 + [(B, "b")] * 2]
    tasks = [asyncio.create_task(it) for it in work]
    await gate.wait_for(1)
    gate.open()
    await asyncio.gather(*tasks)

    assert gate.order == ["a", "a", "b", "a", "b", "a"]


async def test_work_in_a_call_is_work_for_its_caller() -> None:
    """As looking up names of hosts is, of which a tool may have asked for many that are not found soon."""
    pool, gate = Pool("test", 2), Gate()

    async def serve(caller: Caller, name: str) -> str:
        CALL.set(SimpleNamespace(request=SimpleNamespace(sender=SimpleNamespace(caller=caller))))
        return await pool.run(gate.pass_through, name)

    tasks = [asyncio.create_task(serve(Caller(subject="one", tenant="a"), "a")) for _ in range(4)]
    await gate.wait_for(1)
    tasks.append(asyncio.create_task(serve(Caller(subject="one", tenant="b"), "b")))
    await gate.wait_for(1)
    assert gate.order == ["a", "b"]
    gate.open()
    await asyncio.gather(*tasks)


async def test_what_is_cancelled_before_its_turn_is_never_done() -> None:
    """And takes no turn."""
    pool, gate = Pool("test", 1), Gate()
    first = asyncio.create_task(pool.run(gate.pass_through, "first"))
    await gate.wait_for(1)
    second = asyncio.create_task(pool.run(gate.pass_through, "second"))
    third = asyncio.create_task(pool.run(gate.pass_through, "third"))
    await asyncio.sleep(0)
    second.cancel()
    await asyncio.wait([second])
    gate.open()

    assert await asyncio.gather(first, third) == ["first", "third"]
    assert gate.order == ["first", "third"]
    assert len(pool._waiting) == 0


def test_a_pool_serves_several_event_loops() -> None:
    """As those of tests, and of tools that are called without a server."""
    pool = Pool("test", 2)

    assert [asyncio.run(pool.run_for(NOBODY, int, text)) for text in ("1", "2")] == [1, 2]


def _is_default_executor(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    is_none = bool(node.args) and isinstance(node.args[0], ast.Constant) and node.args[0].value is None
    return node.func.attr == "to_thread" or (node.func.attr == "run_in_executor" and is_none)


#: Which run outside of the server, or run a tool's own code.
_OUTSIDE = {
    "app/sidecall/authoring/base_tool.py",
    "app/sidecall/compat/foreign/frameworks/agno.py",
    "app/sidecall/compat/foreign/frameworks/strands.py",
    "app/sidecall/features/remote_agents/cli.py",
    "app/sidecall/client/agents.py",
    "app/sidecall/client/remote.py",
    "app/sidecall/features/processes/inside/tool_process.py",
}


def test_the_server_leaves_the_pool_of_the_event_loop_to_tools() -> None:
    """What a tool does there for long would hold up the server's own work."""
    found: Callable[[Any], bool] = _is_default_executor
    users = {name_of(path) for path in SOURCES if any(map(found, ast.walk(ast.parse(path.read_text()))))}

    assert {name for name in users if name.startswith(("app/", "tools/"))} == _OUTSIDE


def _refuse_threads(_: threading.Thread) -> None:
    raise RuntimeError("can't start new thread")


async def test_work_waits_for_a_thread_that_there_is_when_the_system_gives_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """None of it is lost, and none is done twice."""
    pool, gate = Pool("test", 4), Gate()
    slow = [asyncio.create_task(pool.run_for(A, gate.pass_through, "first"))]
    await gate.wait_for(1)
    with monkeypatch.context() as limited:
        limited.setattr(threading.Thread, "start", _refuse_threads)
        slow += [asyncio.create_task(pool.run_for(who, gate.pass_through, "more")) for who in (A, B, A, B, B)]
        await asyncio.sleep(0)
    gate.open()

    assert await asyncio.wait_for(asyncio.gather(*slow), PATIENCE) == ["first", *["more"] * 5]
    assert gate.order == ["first", *["more"] * 5]


async def test_a_pool_recovers_when_the_system_gives_threads_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Work that no thread can do has failed, is not done later, and takes no place."""
    pool, done = Pool("test", 2), list[str]()
    with monkeypatch.context() as limited:
        limited.setattr(threading.Thread, "start", _refuse_threads)
        for _ in range(3):
            with pytest.raises(RuntimeError, match="new thread"):
                await pool.run_for(A, done.append, "refused")
    await asyncio.wait_for(asyncio.gather(*(pool.run_for(A, done.append, "done") for _ in range(3))), PATIENCE)

    assert done == ["done"] * 3
