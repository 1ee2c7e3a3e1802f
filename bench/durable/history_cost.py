"""The cost of the history for each call, in processor time of this process: `python -m bench.durable.history_cost`."""

import asyncio
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from bench.tools import echo
from sidecall.feature import Start
from sidecall.features.history.history import History, make_history
from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.invocation import CallRequest, Invocation, new_invocation
from sidecall.kernel.core.messages import ToolCall, ToolMessage
from sidecall.kernel.core.sender import Sender
from sidecall.kernel.registry import Registry
from sidecall.settings import Settings

_CALLS = 10_000
_TURN = 250
_ROUNDS = 5
_Calls = Sequence[tuple[Invocation, float]]


def main() -> None:
    """Print a line for each kind of store and load."""
    print("| store | tools and callers | µs of processor time per call |\n| --- | --- | ---: |")
    with tempfile.TemporaryDirectory() as folder:
        for store in ("memory://", f"sqlite:///{Path(folder) / 'ledger.db'}"):
            for tools, callers in ((1, 1), (40, 100)):
                took = asyncio.run(_measure(store, partial(_make_calls, tools, callers)))
                print(f"| {store.partition(':')[0]} | {tools} and {callers} | {took:.1f} |", flush=True)


def _make_calls(tools: int, callers: int) -> _Calls:
    chance = random.Random(1)
    known = [replace(echo.compiled, name=f"echo_{number}") for number in range(tools)]
    named = [Caller(f"caller {number}") for number in range(callers)]
    made = []
    for _ in range(_CALLS):
        tool = chance.choice(known)
        call = ToolCall(name=tool.name, args={"text": "hi"}, id="call_1")
        made.append(
            (
                new_invocation(CallRequest(call, Sender(caller=chance.choice(named))), tool, None),
                chance.lognormvariate(-8, 1),
            )
        )
    return made


async def _measure(store: str, make_calls: Callable[[], _Calls]) -> float:
    history = make_history(Start(registry=Registry(), server=Settings(store=store)))
    await history.open()
    took = [await _time(partial(_note_all, history, make_calls())) for _ in range(_ROUNDS)]
    await history.close()
    return median(took)


async def _time(run: Callable[[], Any]) -> float:
    began = time.process_time()
    await run()
    return (time.process_time() - began) / _CALLS * 1e6


async def _note_all(history: History, calls: _Calls) -> None:
    """Note calls as they end, and write them down as often as a server does that answers 5,000 of them in a second."""
    begin, note = history.notes.begin, history.notes.note
    for number, (invocation, seconds) in enumerate(calls, 1):
        name, call_id, begun = invocation.tool.name, invocation.id, begin(invocation)
        invocation.args = {"text": "hi"}
        invocation.message = ToolMessage(content="hi", tool_call_id="call_1", name=name, id=call_id)
        note(invocation, "success", seconds, begun)
        if number % _TURN == 0:
            await asyncio.sleep(0)
        if number % (10 * _TURN) == 0:
            await history.settle()


if __name__ == "__main__":
    main()
