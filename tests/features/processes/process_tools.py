"""Tools that run in processes; a process loads this file again to find them."""

import asyncio
import ctypes
import gc
import math
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import AsyncIterator, Iterator
from datetime import date
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel

from sidecall import (
    Command,
    InjectedState,
    InjectedToolArg,
    InjectedToolCallId,
    Secret,
    Send,
    ToolContext,
    ToolMessage,
    tool,
)
from sidecall.features.processes.inside.tool_process import Channel


class Unlucky(Exception):
    """Something of this module's own."""


class Block(BaseModel):
    """Looks like a block once it is an object."""

    type: str = "text"
    text: str = "hello"


class Figure(Block):
    """Looks like one, too, and holds what JSON lacks."""

    value: float = math.nan


class Plain:
    """Has no JSON form."""


RESULTS: dict[str, Any] = {
    "number": 3,
    "number_too_long": 10**6000,
    "text": "grüße \ud800",
    "nothing": None,
    "mapping": {1: "a", "b": [1.5, None, True]},
    "model": Block(),
    "models": [Block()],
    "models_without_a_number": [Figure(), Figure(value=1.5)],
    "blocks": [{"type": "text", "text": "hello"}, "and more"],
    "blocks_with_bytes": ({"type": "file", "data": b"\x00\xff"},),
    "texts": {"one"},
    "numbers": frozenset((1,)),
    "day": date(2026, 11, 21),
    "not_a_number": [1.0, math.nan, {"deep": math.inf}],
    "not_a_number_in_a_model": {"block": Block(), "value": -math.inf},
    "unsayable": Plain(),
    "message": ToolMessage(content="said", artifact=[1], status="error", additional_kwargs={"a": 1}),
    "command": Command(update={"seen": {1}, "messages": [ToolMessage(content="done", artifact=math.nan)]}, goto="next"),
    "command_with_more": Command(update=[("messages", [{"tool_call_id": "", "content": ["a"]}, {"content": "b"}])]),
    "command_with_models": Command(update={"messages": [{"tool_call_id": "", "content": [Figure()]}]}),
    "jump_too_far": Command(update={"messages": [ToolMessage("done")]}, goto=10**6000),  # type: ignore[arg-type]
    "jump": Command(goto=["one", "two"]),
    "command_without_answer": Command(update={"seen": 1}),
    "command_upward": Command(update={"seen": 1}, graph=Command.PARENT, resume={"a": {1}}, goto=[Send("x", {2})]),
    "list_of_messages": [ToolMessage("said", artifact=b"a"), ToolMessage("more", tool_call_id="other")],
    "list_with_commands": [
        Command(update={"seen": {1}}, goto=Send("x", date(2026, 11, 21))),
        Command(update={"more": 2, "messages": [ToolMessage("done")]}, goto="next"),
    ],
    "views": [range(2), {"a": 1}.keys(), memoryview(b"a")],
}

PAIRS: dict[str, Any] = {
    "pair": ("text", {"rows": [Block()]}),
    "pair_of_list": ["text", 1],
    "pair_with_command": (Command(update={"messages": [ToolMessage(content="done")]}), b"\x00"),
    "pair_of_models": ([Block()], None),
    "pair_with_message": (ToolMessage(content=["said"]), {"rows": {1}}),
    "pair_with_a_number_too_long": ("text", 10**6000),
    "pair_with_two_artifacts": (ToolMessage(content="said", artifact=[1]), [2]),
}


@tool(executor="process")
def returning(name: str) -> Any:
    """Return something.

    Args:
        name: What.
    """
    return RESULTS[name]


@tool(executor="process", response_format="content_and_artifact")
def pairing(name: str) -> Any:
    """Return a pair.

    Args:
        name: Which.
    """
    return PAIRS[name]


@tool(executor="process")
async def later(number: int) -> int:
    """Wait, then answer.

    Args:
        number: What to answer.
    """
    await asyncio.sleep(0)
    return number


@tool(executor="process")
def with_a_loop() -> int:
    """Start an event loop, as only a tool without one can."""
    return asyncio.run(asyncio.sleep(0, 3))


@tool(executor="process")
def series() -> Any:
    """Return what can be read only once."""
    return {"items": (number for number in (1, 2))}


@tool(executor="process")
def parts() -> Iterator[str]:
    """Yield the parts of a text."""
    yield "one "
    yield "two"


@tool(executor="process")
async def aparts() -> AsyncIterator[int]:
    """Yield numbers."""
    yield 1
    yield 2


ERRORS: dict[str, BaseException] = {
    "built_in": KeyError("no"),
    "own": Unlucky("bad luck"),
    "exit": SystemExit(3),
    "interrupt": KeyboardInterrupt(),
    "cancelled": asyncio.CancelledError(),
    "stop": StopIteration(1),
    "timeout": TimeoutError("its own"),
    "memory": MemoryError(),
}


@tool(executor="process")
def raising(name: str) -> None:
    """Raise something.

    Args:
        name: What.
    """
    raise ERRORS[name]


@tool(executor="process")
def pid() -> int:
    """Say which process runs."""
    return os.getpid()


@tool(executor="process")
def stop_parent() -> str:
    """Stop the process that has made this one."""
    os.kill(os.getppid(), signal.SIGSTOP)
    return "stopped"


@tool(executor="process")
def greedy(megabytes: int) -> int:
    """Take memory.

    Args:
        megabytes: How much.
    """
    return len(bytearray(megabytes * 1024 * 1024))


@tool(executor="process", memory_limit_mb=64)
def modest(megabytes: int) -> int:
    """Take memory.

    Args:
        megabytes: How much.
    """
    return len(bytearray(megabytes * 1024 * 1024))


@tool(executor="process")
def leave(code: int) -> None:
    """End the process.

    Args:
        code: Its exit code.
    """
    os._exit(code)


@tool(executor="process")
def crash() -> None:
    """Read where nothing is."""
    ctypes.string_at(0)


@tool(executor="process", timeout=2)
def endless(file: str) -> None:
    """Write down who runs, and run for ever.

    Args:
        file: Where to write the ids of this process and of one that it starts.
    """
    other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
    with open(file, "w") as written:
        written.write(f"{os.getpid()} {other.pid}")
    while True:
        time.sleep(0)


@tool(executor="process")
def leave_behind(file: str) -> None:
    """End the process, but not the one that it starts.

    Args:
        file: Where to write the id of that one.
    """
    other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
    with open(file, "w") as written:
        written.write(str(other.pid))
    os._exit(3)


@tool(executor="process")
def orphan() -> int:
    """Start a process that nobody waits for, and say which."""
    return int(subprocess.check_output(["sh", "-c", "sleep 1000 >&2 & echo $!"]))


@tool(executor="process", timeout=3, sequential=True)
def alone(is_endless: bool) -> None:
    """Run where no other call of this tool does, perhaps for ever.

    Args:
        is_endless: Whether for ever.
    """
    while is_endless:
        time.sleep(1)


@tool(executor="process")
def hold(fifo: str) -> str:
    """Read a line from somebody who may be late.

    Args:
        fifo: Where.
    """
    with open(fifo) as read:
        return read.readline()


@tool(executor="process")
def circumstances(
    user: Annotated[str, InjectedState("user")],
    tenant: Annotated[str, InjectedToolArg],
    call_id: Annotated[str, InjectedToolCallId],
    key: Annotated[str, Secret("API_KEY")],
    context: ToolContext,
) -> dict[str, Any]:
    """Say what is known of the call."""
    context.log.warning("looking around")
    with warnings.catch_warnings(action="always"):  # Also when the process was asked before.
        warnings.warn("that road is old", stacklevel=1)
    context.report_progress(1, 2, "half")
    known = {"user": user, "tenant": tenant, "call_id": call_id, "key": key, "headers": dict(context.headers)}
    caller = [context.caller.subject, sorted(context.caller.scopes)]
    return {**known, "caller": caller, "tool": context.tool_name, "store": context.store, "late": context.remaining}


@tool(executor="process", timeout=60)
def spoil_the_line(folder: str = "") -> str:
    """Write what is no message to the server: at once, or, after the answer, when there is a file `go` in a folder."""
    channel = next(found for found in gc.get_objects() if type(found) is Channel)

    def write() -> None:
        while folder and not Path(folder, "go").exists():
            time.sleep(0.01)
        channel._socket.sendall(b"\xff" * 16)
        if folder:
            Path(folder, "done").touch()

    if folder:
        threading.Thread(target=write).start()
    else:
        write()
    return "done"


def make_hidden() -> Any:
    """Make a tool that nobody finds."""

    @tool(executor="process")
    def hidden() -> None:
        """Hide."""

    return hidden
