"""What many tools cost before the first call: compiling, starting, checking, and the first listing."""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from pydantic import create_model

from bench.commands import run
from bench.environments import ROOT
from bench.load import new_client
from bench.machine import Cores
from bench.results import Bar, Part
from bench.rounds import take_turns
from bench.servers import running, sidecall
from bench.tables import tabulate
from sidecall import StructuredTool
from sidecall.kernel.json_data.text import pause_collector

TOOLS, FEW, MANY = 2_000, 1_000, 5_000
OURS, PYDANTIC = "compiling a tool of 3 parameters, ms", "pydantic's model and schema of them, ms"
START = f"start with {TOOLS:,} tools, s"
STARTED, CHECK = (
    f"start with {FEW:,} tools, s of processor time",
    f"sidecall check of {FEW:,} tools, s of processor time",
)
MCP, ANTHROPIC = "first list of 1,000 tools for MCP, ms", "first list of 1,000 tools for Anthropic, ms"
MCP_MANY = "first list of 5,000 tools for MCP, a fifth of it, ms"
BARS = (
    Bar("compiling a tool ÷ pydantic's model and schema", OURS, PYDANTIC, 1.5, at_least=False),
    Bar(START, START, None, 2.0, at_least=False, unit="s"),
    Bar(f"sidecall check of {FEW:,} tools ÷ their start", CHECK, STARTED, 1.5, at_least=False),
    Bar("first list for MCP ÷ for Anthropic", MCP, ANTHROPIC, 1.5, at_least=False),
    Bar("first list of 5,000 tools for MCP, a tool ÷ of 1,000", MCP_MANY, MCP, 1.2, at_least=False),
)
_BATCH = 100
_MOST_ROUNDS = 3


async def search(query: str, limit: int = 3, exact: bool = False) -> str:
    """Search.

    Args:
        query: What for.
        limit: How many.
        exact: Whether as written.
    """
    return query * limit if exact else query


def measure(rounds: int, cores: Cores) -> Part:
    """Compile in this process, and start servers, in turns."""
    lists: dict[str, list[float]] = {MCP: [], ANTHROPIC: [], MCP_MANY: []}
    _compile(1)
    _make_models(1)
    with TemporaryDirectory() as folder:
        turns: dict[str, Callable[[], float]] = {
            OURS: partial(_time, _compile),
            PYDANTIC: partial(_time, _make_models),
            START: partial(_start, cores, TOOLS),
            STARTED: partial(_start, cores, FEW, by_processor=True),
            CHECK: partial(_check, cores, Path(folder)),
            "listed": partial(_list, cores, lists),
        }
        series, failed = take_turns(turns, min(rounds, _MOST_ROUNDS))
    series = {name: taken for name, taken in {**series, **lists}.items() if taken and name != "listed"}
    return tabulate("Many tools, before the first call", "s or ms", series, BARS, failed)


def _time(work: Callable[[int], object]) -> float:
    with pause_collector():  # As at a start.
        begun = time.process_time()
        work(_BATCH)
        return (time.process_time() - begun) / _BATCH * 1000


def _compile(count: int) -> None:
    for number in range(count):
        _ = StructuredTool.from_function(coroutine=search, name=f"search_{number}", description="Search.").compiled


def _make_models(count: int) -> None:
    for number in range(count):
        model = create_model(f"M{number}", query=(str, ...), limit=(int, 3), exact=(bool, False))
        model.model_json_schema()


def _start(cores: Cores, count: int, *, by_processor: bool = False) -> float:
    begun = time.perf_counter()
    with running(sidecall("--tools", "bench/many.py", BENCH_TOOLS=str(count)), cores) as server:
        used = server.processor_seconds() if by_processor else None
        return time.perf_counter() - begun if used is None else sum(used)


def _check(cores: Cores, folder: Path) -> float:
    command = ("-m", "sidecall", "check", "--tools", str(ROOT / "bench" / "many.py"))
    return run(cores, command, folder, BENCH_TOOLS=str(FEW)).processor_seconds


def _list(cores: Cores, lists: dict[str, list[float]]) -> float:
    for count, forms in ((FEW, {MCP: "mcp", ANTHROPIC: "anthropic"}), (MANY, {MCP_MANY: "mcp"})):
        with running(sidecall("--tools", "bench/many.py", BENCH_TOOLS=str(count)), cores) as server, new_client() as it:
            # What the first list of all loads, none of those below has to.
            it.get(f"{server.url}/tools?name=echo_0000").raise_for_status()
            for name, form in forms.items():
                before = sum(server.processor_seconds() or ())
                it.get(f"{server.url}/tools?format={form}").raise_for_status()
                lists[name].append((sum(server.processor_seconds() or ()) - before) * 1000 * FEW / count)
    return 0.0
