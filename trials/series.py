"""Ask for ten thousand things that there are not, and count what the metrics remember of them."""

import asyncio
import json
import random
import re
from collections.abc import Iterator

import uvloop

from tests.kit.lines import Line, get, post
from trials.finding import Finding
from trials.serving import serving

_LINES = 16
_LABEL = re.compile(r'\b(?:tool|path|route|handler|name)="((?:[^"\\]|\\.)*)"')


def run_shortly() -> Iterator[Finding]:
    """Try O3 with some hundreds."""
    yield _remembered(500)


def run() -> Iterator[Finding]:
    """Try O3."""
    yield _remembered(10_000)


def _remembered(asked: int) -> Finding:
    with serving() as server:
        tools = int(server.metrics()["sidecall_tools"])
        before = len(server.metrics())
        uvloop.run(_ask_for_nothing(server.port, asked))
        metrics = server.metrics()
        counted = metrics.get('sidecall_calls_total{outcome="unknown_tool",tool="unknown"}', 0)
    values = {value for series in metrics for value in _LABEL.findall(series)}
    return Finding(
        "O3",
        f"{asked:,} calls of tools that there are not, and {asked:,} addresses that there are not",
        f"values of the label `tool` ≤ {tools} tools + 10; all of the calls counted",
        f"{len(values)} values; {before} series before, {len(metrics)} after; {counted:,.0f} counted as unknown",
        len(values) <= tools + 10 and counted == asked,
    )


async def _ask_for_nothing(port: int, asked: int) -> None:
    dice = random.Random(1)
    names = ["".join(dice.choices('abc"\\\n{}é,=', k=dice.randint(3, 60))) for _ in range(asked)]
    await asyncio.gather(*(_ask(port, names[start::_LINES]) for start in range(_LINES)))


async def _ask(port: int, names: list[str]) -> None:
    line = Line(port)
    for number, name in enumerate(names):
        await line.ask(post("/tool_calls", json.dumps({"name": f"{name}{number}", "args": {}}).encode()))
        await line.ask(get(f"/tools/{number}{name.encode().hex()}"))
    line.close()
