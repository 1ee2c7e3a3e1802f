"""Print what one call costs in this process, as ratios within one run.

Absolute times belong to the machine; the ratio to pydantic alone is what to watch.
"""

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable

from langchain_core.tools import tool as langchain_tool
from pydantic import TypeAdapter, validate_call
from pydantic_core import from_json, to_json
from rich.console import Console
from rich.table import Table

from app import Registry, tool
from app.api.dialects import read_call, write_answer
from app.core.invocation import CallRequest
from app.main import build_pipeline
from app.pipeline.pipeline import Pipeline

BODY = b'{"name": "add", "args": {"a": 19, "b": 23}, "id": "call_1", "type": "tool_call"}'
ROUNDS = 9
CALLS = 1000

Run = Callable[[], Awaitable[object]]


async def add(a: int, b: int) -> int:
    """Add two integers.

    Args:
        a: The first.
        b: The second.
    """
    return a + b


def pydantic_alone() -> Run:
    """Parse, validate, run and serialize with nothing else: the floor."""
    body = TypeAdapter(dict[str, object])
    validated = validate_call(add)

    async def run() -> bytes:
        call = body.validate_json(BODY)
        return to_json({"content": str(await validated(**call["args"])), "tool_call_id": call["id"]})  # type: ignore[arg-type]  # checked by validate_call

    return run


def sidecall(pipeline: Pipeline) -> Run:
    """Do what the server does between the request's bytes and the answer's."""

    async def run() -> bytes:
        sent = read_call(from_json(BODY, allow_inf_nan=False))
        message = await pipeline.run(CallRequest(sent.call, state=sent.state, context=sent.context))
        return to_json(write_answer(message, sent.dialect))

    return run


def langchain() -> Run:
    """Run LangChain's own tool with the same call."""
    peer = langchain_tool(add)

    async def run() -> bytes:
        message = await peer.ainvoke(from_json(BODY))
        return to_json(message.model_dump())

    return run


async def _microseconds(run: Run) -> float:
    start = time.perf_counter()
    for _ in range(CALLS):
        await run()
    return (time.perf_counter() - start) / CALLS * 1e6


async def measure() -> dict[str, float]:
    """Return the median microseconds of each row; the rows take turns, so that a busy moment hits all of them."""
    async with build_pipeline(Registry([tool(add).compiled]), threads=1, tool_timeout=30) as pipeline:
        rows = {"pydantic alone": pydantic_alone(), "sidecall": sidecall(pipeline), "langchain-core": langchain()}
        taken: dict[str, list[float]] = {name: [] for name in rows}
        for _ in range(ROUNDS):
            for name, run in rows.items():
                taken[name].append(await _microseconds(run))
    return {name: statistics.median(times) for name, times in taken.items()}


def main() -> None:
    """Measure and print a table."""
    figures = asyncio.run(measure())
    table = Table("async tool, in process, bytes to bytes", "µs per call", "÷ pydantic alone", box=None)
    for name, microseconds in figures.items():
        table.add_row(name, f"{microseconds:.1f}", f"{microseconds / figures['pydantic alone']:.1f}")
    Console().print(table)


if __name__ == "__main__":
    main()
