"""What has ended is told until it is heard, by any server."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sidecall.features.jobs.call_record import CallRecord
from sidecall.features.jobs.records import Acceptance, CallCompletion
from sidecall.features.ledger.ledger import Ledger, LedgerBounds
from sidecall.features.ledger.open_ledger import open_ledger
from sidecall.features.ledger.sql_ledger import DatabaseLedger
from sidecall.features.webhooks import dispatcher as dispatcher
from sidecall.features.webhooks.dispatcher import WebhookDispatcher
from sidecall.features.webhooks.receivers import AllowedHosts
from sidecall.features.webhooks.signing import read_key
from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.messages import ToolCall, ToolMessage
from sidecall.kernel.pipeline.format import refuse
from sidecall.kernel.ports.call_entry import CallEntry
from sidecall.storage.sqlite.database import SqliteDatabase
from tests.features.webhooks.listening import SECRET, listen
from tests.kit.faulty import FaultyDatabase
from tests.kit.waiting import until


def show(entry: CallEntry) -> bytes:
    """Write a call."""
    return b'{"id":"%s"}' % entry.id.encode()


@asynccontextmanager
async def keep(folder: Path) -> AsyncIterator[Ledger]:
    """Open a ledger in a file."""
    ledger = open_ledger(f"sqlite:///{folder}/ledger.db", LedgerBounds(), refuse)
    await ledger.open()
    try:
        yield ledger
    finally:
        await ledger.close()


@asynccontextmanager
async def carry(ledger: Ledger, *hosts: str, pauses: Sequence[float] = (0.0, 0.0)) -> AsyncIterator[None]:
    """Let a courier run."""
    carrier = WebhookDispatcher(ledger, AllowedHosts(hosts), [read_key(SECRET)], show, pauses)
    carrier.open()
    try:
        yield
    finally:
        await carrier.close()


async def accept(ledger: Ledger, url: str | None, id: str = "a") -> None:
    """Begin a call."""
    call = ToolCall(name="work", args={}, id=id)
    record = CallRecord(id=id, created_at=datetime.now(UTC), tool_call=call, caller=Caller())
    await ledger.calls.accept(record, Acceptance(ledger.owner, callback_url=url))


async def end(ledger: Ledger, url: str | None, id: str = "a") -> None:
    """Begin and end a call."""
    await accept(ledger, url, id)
    await ledger.calls.finish(id, 1, CallCompletion("succeeded", None, ToolMessage("done", tool_call_id=id)))


async def is_settled(ledger: Ledger) -> bool:
    """Return whether nothing is left to do, now or later."""
    return not await ledger.callbacks.list_due(time.time() + 1_000_000, 10, 10)


async def settle_all(ledger: Ledger) -> None:
    """Wait until nothing is left to do."""
    async with asyncio.timeout(30):
        while not await is_settled(ledger):  # noqa: ASYNC110  nobody tells
            await asyncio.sleep(0.02)


async def test_it_is_sent_again_until_it_is_heard(tmp_path: Path) -> None:
    """Under the same id, with a body that never changes; and then no more."""
    async with listen(500, 302, 204) as receiver, keep(tmp_path) as ledger:
        await end(ledger, f"{receiver.host}/told?by=us")
        async with carry(ledger, receiver.host):
            await settle_all(ledger)

    assert [message.path for message in receiver.heard] == ["/told?by=us"] * 3
    assert [message.headers["webhook-id"] for message in receiver.heard] == ["msg_a"] * 3
    assert len({message.body for message in receiver.heard}) == 1
    assert receiver.heard[0].said["type"] == "tool_call.succeeded"
    assert receiver.heard[0].said["data"] == {"id": "a"}


@pytest.mark.parametrize(
    ("statuses", "count", "reason"), [((500,), 3, "it answered 500"), ((500, 410), 2, "it answered 410")]
)
async def test_it_is_given_up(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, statuses: tuple[int, ...], count: int, reason: str
) -> None:
    """After the last pause, or when the receiver says that it is gone; the log says so."""
    async with listen(*statuses) as receiver, keep(tmp_path) as ledger:
        await end(ledger, receiver.host)
        with caplog.at_level(logging.WARNING, "sidecall"):
            async with carry(ledger, receiver.host):
                await settle_all(ledger)

    assert len(receiver.heard) == count
    assert [record.message for record in caplog.records] == [
        f"webhook of call a is given up after try {count}: {reason}"
    ]


async def test_a_host_that_is_not_named_any_more_is_told_nothing(tmp_path: Path) -> None:
    """The call may be older than the setting."""
    async with listen() as receiver, keep(tmp_path) as ledger:
        await end(ledger, receiver.host)
        async with carry(ledger, "hooks.example.com"):
            await settle_all(ledger)

    assert receiver.heard == []


async def test_only_ended_calls_are_told(tmp_path: Path) -> None:
    """And those whose program wants it."""
    async with listen() as receiver, keep(tmp_path) as ledger:
        await accept(ledger, receiver.host, "running")
        await end(ledger, None, "plain")
        await end(ledger, receiver.host, "ended")
        async with carry(ledger, receiver.host):
            await until(lambda: bool(receiver.heard))
            await settle_all(ledger)
        assert (await ledger.calls.get("running", "default")).status == "running"

    assert [message.said["data"]["id"] for message in receiver.heard] == ["ended"]


async def test_a_server_that_comes_back_tells_what_the_one_before_has_not(tmp_path: Path) -> None:
    """What it was about to send is sent once its lease is over."""
    async with listen() as receiver:
        async with keep(tmp_path) as ledger:
            await end(ledger, receiver.host, "waiting")
            await end(ledger, receiver.host, "taken")
            taken = (await ledger.callbacks.list_due(time.time(), 10, 10))[1]
            assert await ledger.callbacks.claim(taken, time.time() + 0.5) is not None
        async with keep(tmp_path) as ledger, carry(ledger, receiver.host):
            await settle_all(ledger)

    assert sorted(message.said["data"]["id"] for message in receiver.heard) == ["taken", "waiting"]


async def test_each_message_is_one_servers(tmp_path: Path) -> None:
    """However many look for it."""
    async with listen() as receiver, keep(tmp_path) as ledger:
        for number in range(10):
            await end(ledger, receiver.host, f"call {number}")
        async with carry(ledger, receiver.host), carry(ledger, receiver.host):
            await settle_all(ledger)

    assert sorted(message.headers["webhook-id"] for message in receiver.heard) == [
        f"msg_call {number}" for number in range(10)
    ]


async def test_a_host_that_never_answers_holds_up_no_others(tmp_path: Path) -> None:
    """It has one place, however many are due to it before, and for all receivers."""
    async with listen() as quick, listen() as gone, keep(tmp_path) as ledger:
        gone.go = asyncio.Event()
        for number in range(30):
            await end(ledger, f"{gone.host}/{number}", f"gone {number}")
        async with carry(ledger, gone.host, quick.host):
            await until(lambda: len(gone.heard) == 1)
            for number in range(6):
                await end(ledger, quick.host, f"quick {number}")
            await until(lambda: len(quick.heard) == 6)
            await end(ledger, quick.host, "quick 6")
            await until(lambda: len(quick.heard) == 7)
            assert len(gone.heard) == 1

            gone.go.set()
            await settle_all(ledger)

    assert len(gone.heard) == 30


async def test_many_hosts_that_never_answer_hold_up_no_others(tmp_path: Path) -> None:
    """Five of them took all places."""
    async with AsyncExitStack() as stack, keep(tmp_path) as ledger:
        quick, *gone = [await stack.enter_async_context(listen()) for _ in range(6)]
        for number, host in enumerate(gone):
            host.go = asyncio.Event()
            for again in range(4):
                await end(ledger, host.host, f"gone {number} {again}")
        async with carry(ledger, quick.host, *(host.host for host in gone)):
            await until(lambda: all(host.heard for host in gone))
            for number in range(6):
                await end(ledger, quick.host, f"quick {number}")
            await until(lambda: len(quick.heard) == 6)
            assert [len(host.heard) for host in gone] == [1, 1, 1, 1, 1]

            for host in gone:
                assert host.go is not None
                host.go.set()
            await settle_all(ledger)

    assert [len(host.heard) for host in gone] == [4, 4, 4, 4, 4]


async def test_a_prompt_host_is_told_of_four_calls_at_once(tmp_path: Path) -> None:
    """Once it has answered the first."""
    async with listen() as receiver, keep(tmp_path) as ledger:
        await end(ledger, receiver.host, "first")
        async with carry(ledger, receiver.host):
            await until(lambda: len(receiver.heard) == 1)
            await settle_all(ledger)
            receiver.go = asyncio.Event()
            for number in range(6):
                await end(ledger, receiver.host, f"call {number}")
            await until(lambda: len(receiver.heard) == 5)

            receiver.go.set()
            await settle_all(ledger)

    assert len(receiver.heard) == 7


async def test_whoever_has_lost_its_lease_changes_nothing(tmp_path: Path) -> None:
    """Another server has the message now."""
    async with keep(tmp_path) as ledger:
        await end(ledger, "http://127.0.0.1:1/")
        (due,) = await ledger.callbacks.list_due(time.time(), 10, 10)
        late = await ledger.callbacks.claim(due, time.time() - 1)
        assert late is not None
        (again,) = await ledger.callbacks.list_due(time.time(), 10, 10)
        held = await ledger.callbacks.claim(again, time.time() + 60)

        await ledger.callbacks.settle(late, None)

        assert held is not None
        assert await ledger.callbacks.claim(replace(due), time.time() + 60) is None
        assert [it.tries for it in await ledger.callbacks.list_due(time.time() + 61, 10, 10)] == [2]


async def test_nobody_looks_where_nobody_may_be_told(tmp_path: Path) -> None:
    """It costs nothing then."""
    async with keep(tmp_path) as ledger:
        before = len(asyncio.all_tasks())
        async with carry(ledger):
            assert len(asyncio.all_tasks()) == before


async def test_one_line_says_that_the_store_is_away_and_one_that_it_is_back(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However often it is looked at meanwhile."""
    monkeypatch.setattr(dispatcher, "_LOOK", 0.0)
    database = FaultyDatabase(SqliteDatabase(tmp_path / "ledger.db"))
    database.before["list_due_callbacks"] = 3
    ledger = DatabaseLedger(database, LedgerBounds(), refuse)
    await ledger.open()
    async with carry(ledger, "a.example"):
        await until(lambda: "webhooks are sent" in caplog.text)
    await ledger.close()

    assert database.before["list_due_callbacks"] == 0
    assert [record.message for record in caplog.records if "webhooks" in record.message] == [
        "webhooks wait: the store cannot be used just now",
        "the store can be used again, and webhooks are sent",
    ]
