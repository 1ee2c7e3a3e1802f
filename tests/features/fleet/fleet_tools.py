"""The tools that run on workers in these tests, as the text of their file."""

TOOLS = '''
import asyncio
import gc
import logging
import os
import signal
import sys
import time
from pathlib import Path
from typing import Annotated, Any

from sidecall import InjectedState, InjectedStore, Secret, ToolAnnotations, ToolContext, ToolException, tool

logger = logging.getLogger("tools")
SAFE = ToolAnnotations(idempotent=True)


@tool(queue="cpu")
async def where() -> int:
    """Return the process that runs this."""
    return os.getpid()


@tool(queue="cpu", executor="thread")
def where_thread() -> int:
    """Return the process that runs this."""
    return os.getpid()


@tool(queue="cpu", executor="process")
def where_process() -> int:
    """Return the process that runs this."""
    return os.getpid()


@tool(queue="cpu")
async def turn() -> float:
    """Return for how many seconds a thread computes while others wait."""
    return sys.getswitchinterval()


@tool(queue="cpu")
async def collect() -> int:
    """Return how many objects only the garbage collector has found."""
    return gc.collect()


@tool
async def turn_at_home() -> float:
    """Return the same of the server."""
    return sys.getswitchinterval()


@tool
async def at_home() -> int:
    """Return the process that runs this."""
    return os.getpid()


@tool(queue="cpu")
async def echo(text: str) -> str:
    """Return a text."""
    return text


@tool(queue="cpu", executor="thread")
def repeat(letter: str, count: int) -> str:
    """Return a long text."""
    return letter * count


@tool(queue="cpu", response_format="content_and_artifact")
async def with_artifact(count: int) -> tuple[str, list[int]]:
    """Return an artifact."""
    return "made", list(range(count))


@tool(queue="cpu")
async def fails(how: str) -> str:
    """Fail."""
    if how == "told":
        raise ToolException("the disk is full")
    if how == "exit":
        raise SystemExit(3)
    raise RuntimeError(f"secret detail {how}")


@tool(queue="cpu")
async def says(context: ToolContext, count: int) -> str:
    """Say how far it is, and log it."""
    for number in range(count):
        context.report_progress(number + 1, count)
        logger.warning("step %d", number + 1)
    return "done"


@tool(queue="cpu")
async def streams(count: int):
    """Return its result in parts."""
    for number in range(count):
        yield f"{number} "


@tool(queue="cpu")
async def remembers(store: Annotated[Any, InjectedStore()], value: str) -> list[str]:
    """Keep a value, and return all."""
    await store.aput(("notes",), value, {"text": value})
    return sorted(item.key for item in await store.asearch(("notes",)))


@tool(queue="cpu")
async def knows(
    context: ToolContext,
    state: Annotated[dict[str, Any], InjectedState()],
    token: Annotated[str, Secret("FLEET_TOKEN")],
) -> dict[str, Any]:
    """Return what it is given beside its arguments."""
    return {
        "state": state,
        "context": dict(context.context),
        "tenant": context.caller.tenant,
        "token": len(token),
        "other": os.environ.get("FLEET_OTHER"),
    }


@tool(queue="cpu")
async def blocks(seconds: float, file: str) -> str:
    """Hold up the event loop."""
    _note(file)
    time.sleep(seconds)
    return "still here"


@tool(queue="cpu", timeout=0.5)
async def too_slow(file: str) -> str:
    """Run until it is ended."""
    return await _wait(file)


@tool(queue="cpu", timeout=60)
async def waits(file: str) -> str:
    """Run until it is ended."""
    return await _wait(file)


@tool(queue="spare", annotations=SAFE, timeout=60)
async def waits_safely(file: str) -> str:
    """Run for two seconds after its first start, which runs until it is ended."""
    _note(file)
    await asyncio.sleep(60 if len(Path(file).read_text().splitlines()) == 1 else 0.1)
    return "second"


@tool(queue="old", annotations=SAFE, timeout=60)
async def two_tickets(file: str) -> str:
    """Run for ever at its first start."""
    _note(file)
    await asyncio.sleep(60 if len(Path(file).read_text().splitlines()) == 1 else 0)
    return "second"


@tool(queue="spare", timeout=60)
async def waits_once(file: str) -> str:
    """Run until it is ended."""
    return await _wait(file)


@tool(queue="poison", annotations=SAFE)
async def kills(file: str) -> str:
    """End the worker."""
    _note(file)
    os.kill(os.getpid(), signal.SIGKILL)
    return "unreachable"


@tool(queue="frozen", annotations=SAFE, timeout=60)
async def freezes(file: str) -> str:
    """Return how often it was started; the first start takes a while."""
    _note(file)
    starts = len(Path(file).read_text().splitlines())
    await asyncio.sleep(1.0 if starts == 1 else 0.0)
    return f"start {starts}"


@tool(queue="slow")
async def notes(file: str) -> str:
    """Note that it has begun."""
    _note(file)
    return "noted"


@tool(queue="slow")
async def holds(file: str) -> str:
    """Hold up the event loop for longer than the test takes."""
    _note(file)
    time.sleep(60)
    return "unreachable"


@tool(queue="nobody")
async def unserved() -> str:
    """Run on a worker that is not there."""
    return "unreachable"


async def _wait(file: str) -> str:
    _note(file)
    try:
        await asyncio.sleep(50)
    finally:
        with open(file, "a") as said:
            said.write("ended\\n")
    return "unreachable"


def _note(file: str) -> None:
    with open(file, "a") as said:
        said.write(f"{os.getpid()}\\n")
'''
