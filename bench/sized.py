"""The one tool of a server that is sized: `BENCH_EXECUTOR` says where it runs."""

import asyncio
import os

from sidecall import tool

_EXECUTOR = os.environ.get("BENCH_EXECUTOR", "")


async def echo(text: str) -> str:
    """Return the text unchanged.

    Args:
        text: Anything.
    """
    return text


def echo_elsewhere(text: str) -> str:
    """Return the text unchanged, in a thread, a process or the sandbox.

    Args:
        text: Anything.
    """
    return text


async def pause(seconds: float) -> str:
    """Take a while, as a tool does that waits for another service.

    Args:
        seconds: How long.
    """
    await asyncio.sleep(seconds)
    return "done"


if _EXECUTOR == "waiting":
    waiting = tool(pause)
elif _EXECUTOR == "thread":
    threaded = tool("echo", executor="thread")(echo_elsewhere)
elif _EXECUTOR == "process":
    processed = tool("echo", executor="process")(echo_elsewhere)
elif _EXECUTOR == "sandbox":
    sandboxed = tool("echo", executor="sandbox")(echo_elsewhere)
else:
    plain = tool(echo)
