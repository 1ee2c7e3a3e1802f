"""Calls of one agent, alone or in batches, keep to the limits of tools and of the server."""

import asyncio
from collections.abc import Iterable
from typing import Any

import pytest

from sidecall import Caller, Registry, ToolException, ToolMessage, tool
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.overload import Overloaded, TooManyCalls
from sidecall.kernel.pipeline.admission import Admission, Limits
from sidecall.kernel.pipeline.batch import BatchThrottle, run_batch
from tests.kit.calls import write_request
from tests.kit.pipelines import make_pipeline, run_all
from tests.kit.virtual_time import now, outcome, running

pytestmark = pytest.mark.virtual_time


class Server:
    """Run calls of tools that take a second, and write down when each began and ended."""

    def __init__(self, **limits: Any) -> None:
        self.admission = Admission(Limits(**{"queue": 100, "queue_timeout": 60.0, **limits}))
        self.spans: dict[str, tuple[float, float]] = {}
        self.started = now()
        self.registry = Registry(
            [
                tool("free", description="Work.")(self._work),
                tool("pair", description="Work.", max_concurrency=2)(self._work),
                tool("alone", description="Work.", sequential=True)(self._work),
                tool("brief", description="Work.", timeout=0.5, max_concurrency=1)(self._work),
                tool("failing", description="Fail.", max_concurrency=1)(self._fail),
                tool("risky", description="Wait for a person.", requires_approval=True, max_concurrency=1)(self._work),
            ]
        )
        self.pipeline = make_pipeline(self.registry, admission=self.admission)

    async def _work(self, name: str) -> str:
        began = now()
        await asyncio.sleep(1)
        self.spans[name] = (round(began - self.started, 6), round(now() - self.started, 6))
        return name

    async def _fail(self, name: str) -> str:
        raise ToolException(f"{name} failed.") if name == "a" else ValueError

    async def batch(self, *names: str) -> list[ToolMessage]:
        """Run a batch of calls, which are called a, b, c and so on."""
        return await run_all(self.pipeline, _requests(names), self.registry)

    @property
    def crowd(self) -> tuple[int, int]:
        """How many run, and how many wait."""
        return self.admission.running, self.admission.waiting


def _requests(names: Iterable[str]) -> list[CallRequest]:
    return [_request(name, chr(ord("a") + index)) for index, name in enumerate(names)]


def _request(name: str, id: str = "a", caller: str = "ann") -> CallRequest:
    return write_request(name, {"name": id}, id=id, caller=Caller(caller))


BATCHES: list[Any] = [
    pytest.param({}, ["free", "free", "free"], {"a": (0, 1), "b": (0, 1), "c": (0, 1)}, id="side by side"),
    pytest.param({"concurrency": 1}, ["free", "free", "free"], {"a": (0, 1), "b": (1, 2), "c": (2, 3)}, id="one place"),
    pytest.param({}, ["pair", "pair", "pair"], {"a": (0, 1), "b": (0, 1), "c": (1, 2)}, id="two of one tool"),
    pytest.param(
        {},
        ["pair", "pair", "pair", "free"],
        {"a": (0, 1), "b": (0, 1), "c": (1, 2), "d": (0, 1)},
        id="and another tool",
    ),
    pytest.param({}, ["alone", "alone"], {"a": (0, 1), "b": (1, 2)}, id="one after the other"),
    pytest.param(
        {},
        ["free", "free", "alone", "free", "free"],
        {"a": (0, 1), "b": (0, 1), "c": (1, 2), "d": (2, 3), "e": (2, 3)},
        id="what comes before ends first, and what comes after waits",
    ),
    pytest.param({}, ["alone", "free"], {"a": (0, 1), "b": (1, 2)}, id="first"),
    pytest.param({}, ["free", "alone"], {"a": (0, 1), "b": (1, 2)}, id="last"),
    pytest.param({}, ["alone"], {"a": (0, 1)}, id="only"),
    pytest.param({}, [], {}, id="none"),
]


@pytest.mark.parametrize(("limits", "names", "spans"), BATCHES)
async def test_the_calls_of_a_batch_keep_to_the_limits(limits: Any, names: list[str], spans: Any) -> None:
    """And are answered in the order they came."""
    server = Server(**limits)

    messages = await server.batch(*names)

    assert server.spans == spans
    assert [message.content for message in messages] == sorted(spans)
    assert server.crowd == (0, 0)


async def test_a_sequential_tool_runs_alone_among_batches_too() -> None:
    """Those of others wait for it, while other tools go on."""
    server = Server()

    await asyncio.gather(server.pipeline.run(_request("alone", "x")), server.batch("alone", "free"))

    assert server.spans == {"x": (0, 1), "a": (1, 2), "b": (2, 3)}


async def test_each_answer_is_told_of_as_soon_as_it_is_there() -> None:
    """With its place in the batch."""
    server = Server()
    told: list[tuple[int, str, float]] = []

    async def note(index: int, message: ToolMessage) -> None:
        told.append((index, message.tool_call_id, round(now() - server.started, 6)))

    await run_batch(
        server.pipeline.run,
        server.registry.get,
        _requests(["pair", "pair", "pair", "nope", "alone"]),
        note,
        BatchThrottle(),
    )

    assert told == [(3, "d", 0), (0, "a", 1), (1, "b", 1), (2, "c", 2), (4, "e", 3)]


async def test_what_is_over_the_limits_is_answered_in_its_place() -> None:
    """The model, or the program, may try again."""
    server = Server(concurrency=1, queue=1)

    first, second, third = await server.batch("free", "free", "free")
    error = third.response_metadata["error"]

    assert (first.status, second.status, third.status, third.tool_call_id) == ("success", "success", "error", "c")
    assert (error["kind"], error["retryable"], error["retry_after_ms"]) == ("overloaded", True, 1000)


async def test_what_waited_in_vain_is_answered_in_its_place() -> None:
    """As overloaded."""
    server = Server(concurrency=1, queue_timeout=1.5)

    messages = await server.batch("free", "free", "free")

    assert [message.status for message in messages] == ["success", "success", "error"]
    assert messages[2].content == "The call waited 1.5 seconds in vain."


async def test_a_caller_with_too_many_calls_is_told_in_their_places() -> None:
    """As overloaded, too."""
    server = Server(per_caller=2)

    messages = await server.batch("free", "free", "free")
    error = messages[2].response_metadata["error"]

    assert (error["kind"], error["retryable"], error["retry_after_ms"]) == ("overloaded", True, 1000)
    assert error["message"] == "Calls of yours that run already, as many as one caller may: 2."


@pytest.mark.parametrize(
    ("limits", "error"),
    [({"concurrency": 1, "queue": 0}, Overloaded), ({"per_caller": 1}, TooManyCalls)],
)
async def test_a_single_call_over_the_limits_is_refused(limits: dict[str, Any], error: type[Exception]) -> None:
    """By an error, which becomes a status."""
    server = Server(**limits)
    first = asyncio.ensure_future(server.pipeline.run(_request("free", "a")))
    await asyncio.sleep(0)

    assert await outcome(server.pipeline.run(_request("free", "b"))) == (error, 0)
    assert (await first).content == "a"


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        pytest.param("brief", "abc", id="timeouts"),
        pytest.param("failing", "abc", id="failures"),
        pytest.param("risky", "abc", id="approvals"),
    ],
)
async def test_calls_that_end_badly_give_their_places_back(name: str, ids: str) -> None:
    """Each has been answered, and the tool's only place is free."""
    server = Server(concurrency=1)

    messages = await server.batch(*[name] * len(ids))

    assert [message.status for message in messages] == ["error"] * 3
    assert {message.response_metadata["error"]["kind"] for message in messages}.isdisjoint({"overloaded"})
    assert server.crowd == (0, 0)


async def test_calls_that_reach_no_tool_take_no_place() -> None:
    """A model that asks for what there is not is told so at any time."""
    server = Server(concurrency=1, queue=0)
    first = asyncio.ensure_future(server.pipeline.run(_request("free", "a")))
    await asyncio.sleep(0)

    message = await server.pipeline.run(_request("nope", "b"))
    await first

    assert message.response_metadata["error"]["kind"] == "unknown_tool"


async def test_time_in_the_queue_is_not_taken_from_the_tool() -> None:
    """The deadline counts from when the call is let in."""
    server = Server(concurrency=1)
    first = asyncio.ensure_future(server.batch("free", "free"))
    await asyncio.sleep(0.5)

    message, seconds = await outcome(server.pipeline.run(_request("brief", "x")))
    await first

    assert message.content == "Error: brief timed out after 0.5 seconds."
    assert 1.9 < seconds <= 2


async def test_a_batch_that_is_cancelled_gives_all_its_places_back() -> None:
    """Of what runs, and of what waits."""
    server = Server(concurrency=2)
    batch = asyncio.ensure_future(server.batch(*["free"] * 5, "alone"))
    running().call_later(1.5, batch.cancel)

    assert await outcome(batch) == (asyncio.CancelledError, 1.5)
    await asyncio.sleep(0)
    assert server.crowd == (0, 0)
    assert sorted(server.spans) == ["a", "b"]


async def test_without_limits_of_its_own_a_pipeline_still_keeps_to_those_of_tools() -> None:
    """As in a process that has no server: a batch is answered as by one."""
    server = Server()
    pipeline = make_pipeline(server.registry)

    messages = await run_all(
        pipeline,
        [_request("alone", "a"), _request("pair", "b"), _request("pair", "c"), _request("pair", "d")],
        server.registry,
    )

    assert [message.content for message in messages] == ["a", "b", "c", "d"]


class Handler:
    """Hear of every call."""

    async def on_tool_end(self, output: Any) -> None:
        """Do nothing about it."""


@pytest.mark.parametrize("handlers", [[], [Handler()]], ids=["plain", "with handlers over all"])
async def test_a_tool_that_stays_keeps_its_limit_when_others_come(handlers: list[Any]) -> None:
    """Calls that began before the registry changed still count."""
    inside: list[int] = []

    @tool(sequential=True)
    async def alone() -> int:
        """Count who is inside."""
        inside.append(1)
        await asyncio.sleep(1)
        count = len(inside)
        inside.pop()
        return count

    registry = Registry([alone], callbacks=handlers)
    admission = Admission(Limits(queue=10, queue_timeout=60))
    pipeline = make_pipeline(registry, admission=admission)
    call = write_request("alone")
    first = asyncio.ensure_future(pipeline.run(call))
    await asyncio.sleep(0.5)
    registry.add(tool("other", description="Come later.")(lambda: None))
    second = await pipeline.run(call)

    assert ((await first).content, second.content) == ("1", "1")
