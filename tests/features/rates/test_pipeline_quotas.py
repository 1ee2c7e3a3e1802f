"""Calls are counted before anything is done for them, no matter which way they come."""

from collections.abc import Mapping
from typing import Any

import pytest

from sidecall import Caller, Registry, tool
from sidecall.composition.local_pipeline import build_pipeline, default_stages
from sidecall.features.approvals.decide import decide
from sidecall.features.approvals.memory_store import MemoryApprovals
from sidecall.features.approvals.record import Decision
from sidecall.features.rates.quotas import Quotas
from sidecall.kernel.core.context import ANONYMOUS
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.overload import QuotaExceeded
from sidecall.kernel.core.quota import Rate
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.executors.base import InlineExecutor
from sidecall.kernel.pipeline.admission import Admission, Limits
from sidecall.kernel.pipeline.pipeline import Pipeline
from sidecall.kernel.ports.approvals.approval import ApprovalRequired
from sidecall.kernel.ports.observer import Outcome
from sidecall.settings import Settings
from tests.kit.calls import write_request
from tests.kit.pipelines import make_pipeline, run_all
from tests.kit.tools import echo

ANN, BOB = Caller("ann"), Caller("bob")
ASKED: list[str] = []


@pytest.fixture
def asked() -> list[str]:
    """Tell whose sight of the tool `hidden` was asked for."""
    ASKED.clear()
    return ASKED


@tool(sequential=True)
async def alone(text: str) -> str:
    """Repeat a text, alone."""
    return text


@tool(requires_approval=True)
async def risky(text: str) -> str:
    """Wait for a person."""
    return text


@tool(is_enabled=lambda caller: bool(ASKED.append(caller.subject)))
async def hidden(text: str) -> str:
    """Be there for nobody."""
    return text


class Refusals:
    """Hear which calls never began."""

    def __init__(self) -> None:
        self.heard: list[tuple[str | None, str]] = []

    def begin(self, _invocation: Any) -> None:
        """Hear nothing."""

    def end(self, _invocation: Any, _begun: Any, _outcome: Outcome) -> None:
        """Hear nothing."""

    def refuse(self, _request: CallRequest, outcome: Outcome, tool: CompiledTool | None = None) -> None:
        """Write it down."""
        self.heard.append((None if tool is None else tool.name, outcome))


class Server:
    """Run calls of callers that may make so many an hour."""

    def __init__(self, most: int) -> None:
        self.approvals = MemoryApprovals()
        self.refusals = Refusals()
        self.registry = Registry([echo, alone, risky, hidden])
        self.pipeline = Pipeline(
            self.registry,
            default_stages({"inline": InlineExecutor()}, self.approvals),
            admission=Admission(Limits(), Quotas(Rate(most, 3600))),
            observer=self.refusals,
        )

    async def call(self, name: str = "echo", caller: Caller = ANONYMOUS) -> str:
        """Run a call; give what the model reads, or the type of the error."""
        try:
            return str((await self.pipeline.run(_request(name, caller))).content)
        except (QuotaExceeded, ApprovalRequired) as error:
            return type(error).__name__


def _request(name: str, caller: Caller = ANONYMOUS, args: Mapping[str, Any] | None = None) -> CallRequest:
    return write_request(name, dict(args or {"text": "hi"}), caller=caller)


async def test_each_caller_may_make_so_many_calls() -> None:
    """One who has made them is refused, another is not."""
    server = Server(2)

    assert [await server.call(caller=ANN) for _ in range(3)] == ["hi", "hi", "QuotaExceeded"]
    assert [await server.call(caller=BOB) for _ in range(3)] == ["hi", "hi", "QuotaExceeded"]


@pytest.mark.parametrize("name", ["nope", "hidden"])
async def test_calls_of_what_there_is_not_are_counted(name: str) -> None:
    """Else a flood of them would cost nothing."""
    server = Server(2)

    said = [await server.call(name) for _ in range(3)]

    assert said == [f"Error: {name} is not a valid tool, try one of [echo, alone, risky]."] * 2 + ["QuotaExceeded"]


async def test_nothing_is_done_for_a_call_that_is_refused(asked: list[str]) -> None:
    """Not even its tool is asked whether the caller sees it."""
    server = Server(1)
    await server.call()

    assert (await server.call("hidden"), asked) == ("QuotaExceeded", [])


async def test_refused_calls_are_told_to_who_counts() -> None:
    """By the name of their tool, if there is one."""
    server = Server(1)

    said = [await server.call(name) for name in ("echo", "echo", "nope")]

    assert said == ["hi", "QuotaExceeded", "QuotaExceeded"]
    assert server.refusals.heard == [("echo", "overloaded"), (None, "overloaded")]


async def test_a_batch_counts_as_its_calls() -> None:
    """In their order; those over are answered in their places, and are worth trying again."""
    server = Server(3)

    names = ["echo", "nope", "alone", "echo", "echo"]
    messages = await run_all(server.pipeline, [_request(name) for name in names], server.registry)
    errors = [message.response_metadata.get("error", {}) for message in messages]

    assert [error.get("kind") for error in errors] == [None, "unknown_tool", None, "overloaded", "overloaded"]
    assert (errors[4]["retryable"], errors[4]["retry_after_ms"]) == (True, 1_200_000)
    assert errors[4]["message"] == "Calls that one caller may make in 3600 s: 3. The next one may come in 1200 s."


async def test_an_approved_call_was_counted_when_it_came() -> None:
    """The person's word costs the caller nothing, and is not refused for what the caller did."""
    server = Server(1)
    said = [await server.call("risky", ANN), await server.call("risky", ANN)]
    [waiting] = (await server.approvals.list("default")).approvals

    decided, _ = await decide(
        server.pipeline, server.approvals, waiting.id, Decision(decision="approve"), Caller("eve")
    )

    assert said == ["ApprovalRequired", "QuotaExceeded"]
    assert decided.message is not None
    assert (decided.message.content, decided.requested_by, decided.decided_by) == ("hi", "ann", "eve")


async def test_a_call_on_the_command_line_knows_no_rate() -> None:
    """There is nobody to be protected from oneself."""
    async with build_pipeline(Registry([echo]), Settings(rate_limit="1/hour")) as pipeline:
        messages = await run_all(pipeline, [_request("echo") for _ in range(5)])

    assert [message.content for message in messages] == ["hi"] * 5


async def test_without_a_rate_nobody_is_turned_away() -> None:
    """However often they come."""
    pipeline = make_pipeline([echo])

    messages = await run_all(pipeline, [_request("echo") for _ in range(5)])

    assert [message.content for message in messages] == ["hi"] * 5
