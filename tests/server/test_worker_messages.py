"""Workers ask each other through a hub, which has them all reload, or none."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest

from sidecall.features.telemetry.count_file import CountFile
from sidecall.kernel.lifecycle import DISCARD, METRICS, PREPARE, RELOAD, RELOADED, TAKE
from sidecall.server import worker_messages
from sidecall.server.worker_messages import Hub, WorkerLink
from tests.kit.waiting import until


class Worker:
    """A worker that notes what it is told, and answers as it should."""

    def __init__(self, link: WorkerLink, name: str) -> None:
        self.link = link
        self.name = name
        self.heard: list[Any] = []
        self.errors: list[str] = []
        self.failures: list[str] = []
        topics = {PREPARE: self.prepare, TAKE: self.take, DISCARD: self.note, RELOADED: self.note, METRICS: self.tell}
        link.handle(topics)

    async def prepare(self, _: Any) -> Any:
        """Load."""
        self.heard.append(PREPARE)
        return {"errors": self.errors}

    async def take(self, _: Any) -> Any:
        """Use what was loaded."""
        self.heard.append(TAKE)
        return {"errors": self.failures, "reloaded": {"by": self.name}}

    async def note(self, said: Any) -> None:
        """Note what was said."""
        self.heard.append(said)

    async def tell(self, question: Any) -> Any:
        """Answer a question."""
        return f"{question} of {self.name}"


Join = Callable[[str], Any]


@pytest.fixture
async def join() -> AsyncIterator[Join]:
    """Give a function that lets a worker join the hub."""
    hub = Hub()
    async with AsyncExitStack() as stack:

        async def make(name: str) -> Worker:
            ours, theirs = socket.socketpair()
            counts = CountFile.create()
            worker = Worker(WorkerLink(theirs, counts), name)
            # The hub closes the descriptor that it has, with what this worker has counted.
            counts.block("calls", 1)[0] = 1
            hub.add(int(name), ours, counts)
            await worker.link.open()
            stack.callback(worker.link.close)
            known = set(await ask_names(worker))
            while name not in known:
                known = set(await ask_names(worker))
            return worker

        make.hub = hub  # type: ignore[attr-defined]
        yield make


async def ask_names(worker: Worker) -> list[str]:
    """Return whom the hub reaches."""
    return list((await worker.link.ask(METRICS, "x"))["answers"])


async def test_a_question_reaches_all_workers_and_the_one_who_asks(join: Join) -> None:
    """Their answers are by process id."""
    one, _ = await join("1"), await join("2")

    found = await one.link.ask(METRICS, "load")

    assert found == {"answers": {"1": "load of 1", "2": "load of 2"}, "past": {}}


async def test_a_worker_that_is_silent_holds_up_one_question(join: Join, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next ones do not wait for it until it answers something; then they do again."""
    one, two = await join("1"), await join("2")
    goes_on = asyncio.Event()

    async def wait(question: Any) -> str:
        await goes_on.wait()
        return f"{question} of 2"

    two.link.handle({METRICS: wait})
    monkeypatch.setattr(worker_messages, "_PATIENCE", 0.05)
    first = await one.link.ask(METRICS, "load")
    monkeypatch.setattr(worker_messages, "_PATIENCE", 3600.0)
    second = await one.link.ask(METRICS, "load")
    goes_on.set()
    while (last := await one.link.ask(METRICS, "load"))["answers"]["2"] is None:
        pass

    assert first["answers"] == second["answers"] == {"1": "load of 1", "2": None}
    assert last["answers"] == {"1": "load of 1", "2": "load of 2"}


async def test_what_a_worker_that_is_gone_has_counted_stays(join: Join) -> None:
    """It is asked no more."""
    one, two, three = await join("1"), await join("2"), await join("3")
    two.link.close()
    three.link.close()
    found: dict[str, Any] = {"past": {}}
    while found["past"] != {"calls": [2]}:
        found = await one.link.ask(METRICS, "load")

    assert found["answers"] == {"1": "load of 1"}


async def test_all_take_what_all_have_prepared(join: Join) -> None:
    """And the one who asks learns how many."""
    one, two = await join("1"), await join("2")

    found = await one.link.ask(RELOAD)

    assert (found["errors"], found["workers"], found["reloaded"]["by"] in "12") == ([], 2, True)
    assert one.heard == two.heard == [PREPARE, TAKE]


@pytest.mark.parametrize("errors", [(["broken"], []), ([], ["broken"]), (["broken"], ["broken"])])
async def test_none_takes_what_is_broken_for_one(join: Join, errors: tuple[list[str], list[str]]) -> None:
    """Each hears why, once."""
    one, two = await join("1"), await join("2")
    one.errors, two.errors = errors

    found = await two.link.ask(RELOAD)

    assert found == {"errors": ["broken"]}
    assert one.heard == two.heard == [PREPARE, ["broken"]]


async def test_one_that_cannot_take_is_named(join: Join) -> None:
    """The others have it then, which is an error."""
    one, two = await join("1"), await join("2")
    two.failures = ["another tool has come"]

    assert await one.link.ask(RELOAD) == {"errors": ["another tool has come"]}


async def test_those_who_ask_at_the_same_time_share_a_reload(join: Join) -> None:
    """One that has begun may have read old files, so there is one more after it, and no third."""
    one, two = await join("1"), await join("2")
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def hold(_: Any) -> Any:
        one.heard.append(PREPARE)
        begun.set()
        await go_on.wait()
        return {"errors": []}

    one.link.handle({PREPARE: hold})
    first = asyncio.ensure_future(two.link.ask(RELOAD))
    await begun.wait()
    later = [asyncio.ensure_future(it.link.ask(RELOAD)) for it in (one, two, one)]
    await ask_names(one)
    await ask_names(two)  # The requests before it on the same lines have been read.
    go_on.set()
    answers = await asyncio.gather(first, *later)

    assert {str(it["errors"]) for it in answers} == {"[]"}
    assert two.heard == [PREPARE, TAKE] * 2


async def test_a_reload_by_signal_is_told_to_one_of_them(join: Join) -> None:
    """It records it for all; a broken one is told to none."""
    one, two = await join("1"), await join("2")
    join.hub.reload()  # type: ignore[attr-defined]
    await until(lambda: len(one.heard) + len(two.heard) == 5)
    two.errors = ["broken"]
    join.hub.reload()  # type: ignore[attr-defined]
    await until(lambda: one.heard[-1] == two.heard[-1] == ["broken"])

    told = [it for it in (*one.heard, *two.heard) if isinstance(it, dict)]
    assert [(it["workers"], it["errors"]) for it in told] == [(2, [])]
