"""A call passes the gate once, and holds one place from there until it leaves."""

import asyncio
from typing import Any

import pytest

from sidecall import BaseTool, Caller, Registry, ToolMessage, tool
from sidecall.features.rates.quotas import Quotas
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.overload import Overloaded, QuotaExceeded, TooManyCalls
from sidecall.kernel.core.quota import Rate
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.pipeline.admission import Admission, Limits
from sidecall.kernel.pipeline.gate import Gate, Plans, Ticket
from sidecall.kernel.pipeline.stage import Stages
from sidecall.kernel.ports.observer import Outcome
from tests.kit.calls import write_request
from tests.kit.virtual_time import outcome, running

pytestmark = pytest.mark.virtual_time

ANN = Caller("ann")


def _named(name: str, **options: Any) -> BaseTool:
    made: BaseTool = tool(name, description="Work.", **options)(lambda: None)
    return made


class Entrance:
    """A gate before two tools, of which only some see the second, and a note of everything that happens there."""

    def __init__(self, **limits: Any) -> None:
        self.noted: list[tuple[str | None, str]] = []
        rate = limits.pop("rate", None)
        quotas = None if rate is None else Quotas(rate)
        self.admission = Admission(Limits(**{"queue_timeout": 5.0, **limits}), quotas)
        registry = Registry([_named("open"), _named("hidden", is_enabled=self._is_shown)])
        self.gate = Gate(registry, Plans(Stages(()), self.admission), self.admission, self)
        self.gate.deny = self._deny

    def _deny(self, caller: Caller, tool_name: str) -> None:
        self.noted.append((caller.subject, f"denied {tool_name}"))

    def _is_shown(self, caller: Caller) -> bool:
        self.noted.append((caller.subject, "asked"))
        return caller is ANN

    def begin(self, _invocation: Any) -> None:
        """Never hear of a call that begins."""

    def end(self, _invocation: Any, _begun: Any, _outcome: Outcome) -> None:
        """Never hear of a call that ends."""

    def refuse(self, _request: CallRequest, outcome: Outcome, tool: CompiledTool | None = None) -> None:
        """Note who was refused."""
        self.noted.append((None if tool is None else tool.name, outcome))

    async def enter(self, name: str = "open", caller: str = "bob", **beside: Any) -> Ticket | ToolMessage:
        """Let a call enter."""
        caller_of = ANN if caller == "ann" else Caller(caller)
        return await self.gate.enter(write_request(name, caller=caller_of, **beside))

    async def let_in(self, name: str = "open", caller: str = "bob", **beside: Any) -> Ticket:
        """Let a call enter that there is a tool for."""
        ticket = await self.enter(name, caller, **beside)
        assert isinstance(ticket, Ticket)
        return ticket


async def test_a_ticket_holds_one_place_until_it_is_left() -> None:
    """Leaving twice gives one place back."""
    entrance = Entrance(concurrency=2)
    first, second = await entrance.let_in(), await entrance.let_in()
    both = entrance.admission.running
    first.leave()
    first.leave()

    assert (both, entrance.admission.running, first.waited, first.plan.tool.name) == (2, 1, 0.0, "open")
    second.leave()
    assert entrance.admission.running == 0


async def test_a_ticket_says_how_long_it_was_waited_for() -> None:
    """In seconds."""
    entrance = Entrance(concurrency=1)
    first = await entrance.let_in()
    running().call_later(2, first.leave)

    second, seconds = await outcome(entrance.let_in())

    assert (seconds, second.waited > 0) == (2.0, True)


@pytest.mark.parametrize("name", ["nope", "hidden"])
async def test_without_a_tool_there_is_an_answer_and_no_ticket(name: str) -> None:
    """It takes no place, even where there is none left."""
    entrance = Entrance(concurrency=1, queue=0)
    await entrance.let_in()

    answer = await entrance.enter(name)

    assert isinstance(answer, ToolMessage)
    assert answer.content == f"Error: {name} is not a valid tool, try one of [open]."
    assert (None, "unknown_tool") in entrance.noted


async def test_a_tool_that_is_hidden_was_asked_once() -> None:
    """Not again when the others are named; a name that no tool has makes it be asked, too."""
    entrance = Entrance()
    await entrance.enter("hidden")
    first = entrance.noted.copy()
    await entrance.enter("nope")

    assert first == [("bob", "asked"), (None, "unknown_tool")]
    assert entrance.noted[2:] == [(None, "unknown_tool"), ("bob", "asked")]


@pytest.mark.parametrize(
    ("limits", "error"),
    [
        pytest.param({"concurrency": 1, "queue": 0}, Overloaded, id="no place"),
        pytest.param({"concurrency": 1, "queue_timeout": 1.0}, Overloaded, id="waited in vain"),
        pytest.param({"per_caller": 1}, TooManyCalls, id="the caller's share"),
        pytest.param({"rate": Rate(1, 3600)}, QuotaExceeded, id="the caller's quota"),
    ],
)
async def test_whoever_is_refused_is_noted_with_the_tool(limits: Any, error: type[Exception]) -> None:
    """As overloaded, once."""
    entrance = Entrance(**limits)
    await entrance.let_in()

    with pytest.raises(error):
        await entrance.enter()

    assert (entrance.noted, entrance.admission.running) == ([("open", "overloaded")], 1)


async def test_a_call_is_counted_before_anybody_is_asked_for_its_tool() -> None:
    """And asked for before it waits for a place."""
    entrance = Entrance(rate=Rate(1, 3600), concurrency=1, queue=0)
    await entrance.let_in("hidden", "ann")

    with pytest.raises(QuotaExceeded):
        await entrance.enter("hidden", "ann")
    with pytest.raises(Overloaded):
        await entrance.gate.enter(write_request("hidden", caller=ANN).copy_with(id="01"))

    assert entrance.noted == [
        ("ann", "asked"),
        ("hidden", "overloaded"),
        ("ann", "asked"),
        ("hidden", "overloaded"),
    ]


async def test_who_gives_up_waiting_has_no_place() -> None:
    """And is noted as cancelled."""
    entrance = Entrance(concurrency=1)
    first = await entrance.let_in()
    second = asyncio.ensure_future(outcome(entrance.enter()))
    running().call_later(1, second.cancel)

    assert await second == (asyncio.CancelledError, 1.0)
    first.leave()
    assert (entrance.noted, entrance.admission.running) == ([("open", "cancelled")], 0)
