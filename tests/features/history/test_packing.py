"""Calls are packed by their time, and found again in any order."""

import asyncio
import random
import time
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic_core import from_json, to_json

from sidecall.features.history.blocks import SPAN, read_heads
from sidecall.features.history.history import History
from sidecall.features.history.listing import BlockReader
from sidecall.features.history.memory_store import Blocks, BlockSearch, HistoryBounds, MemoryBlocks
from sidecall.features.history.packing import Packer
from sidecall.features.history.pending_calls import NotedCall, PendingCalls
from sidecall.features.history.redactor import CallRedactor
from sidecall.features.history.rollups import to_milliseconds
from sidecall.features.history.sql_store import SqlBlocks
from sidecall.features.ledger.open_ledger import open_history
from sidecall.features.telemetry.redact import Redaction
from sidecall.kernel.core.context import Caller, CallOrigin
from sidecall.kernel.core.invocation import CallRequest, CallSecrets, new_invocation
from sidecall.kernel.core.messages import ToolCall
from sidecall.kernel.core.overload import StoreUnavailable
from sidecall.kernel.core.secret_mask import SecretMask
from sidecall.kernel.ports.call_entry import CallFilter
from sidecall.kernel.ports.observer import Outcome
from tests.features.history.made import make_blocks, make_id, note_at
from tests.features.history.past import add, say

BOUNDS = HistoryBounds(1e9, 1000, 10_000_000)


def note(milliseconds: int, number: int, tenant: str = "default") -> NotedCall:
    """Note a call that was accepted then."""
    called = (say if number % 3 else add).compiled
    kept = ({"number": number}, True, str(number), None)
    caller = Caller("ann" if number % 5 else "bob", tenant)
    outcome: Outcome = "success" if number % 7 else "timeout"
    return NotedCall(
        make_id(milliseconds, number), "1", called, caller, outcome, 0.001, time.monotonic(), False, kept, ()
    )


def test_a_block_spans_little_time() -> None:
    """However long calls took that ended together; each tenant has its own."""
    began = int(time.time() * 1000)
    noted = [note(began - number * 700, number, "one" if number % 2 else "two") for number in range(50)]

    blocks = list(Packer().pack(noted))

    assert sum(block.calls for block in blocks) == 50
    assert {to_milliseconds(block.last_id) - to_milliseconds(block.first_id) < SPAN for block in blocks} == {True}
    for tenant in ("one", "two"):
        assert sum(block.calls for block in blocks if block.tenant == tenant) == 25
    assert {len(read_heads(block.heads).places) == block.calls for block in blocks} == {True}


@pytest.mark.parametrize("is_file", [True, False])
async def test_pages_are_those_of_one_list(tmp_path: Path, is_file: bool) -> None:
    """With blocks that overlap, with and without a filter, from any place."""
    database = open_history(f"sqlite:///{tmp_path / 'ledger.db'}") if is_file else None
    blocks: Blocks = MemoryBlocks(BOUNDS) if database is None else SqlBlocks(database, BOUNDS)
    await blocks.open()
    chance, now, packer = random.Random(1), int(time.time() * 1000), Packer()
    noted = [note(now - chance.randrange(20_000), number) for number in range(400)]
    for start in range(0, 400, 20):
        await blocks.keep(list(packer.pack(noted[start : start + 20])), packer.take_sums())
    listing, some = BlockReader(blocks, 1e9), CallFilter("default")

    for wanted, fits in (
        (some, lambda _: True),
        (replace(some, names=["add"]), lambda call: call.tool.name == "add"),
        (replace(some, names=["add", "other"], caller="bob"), lambda call: int(call.kept[2]) % 15 == 0),
        (replace(some, kind="timeout", names=["say"]), lambda call: int(call.kept[2]) % 21 in (7, 14)),
        (replace(some, since=now / 1000 - 10), lambda call: to_milliseconds(call.id) >= now - 10_000),
        (replace(some, until=now / 1000 - 10), lambda call: to_milliseconds(call.id) < now - 10_000),
        (CallFilter("other"), lambda _: False),
    ):
        found: list[str] = []
        cursor: str | None = ""
        while cursor is not None:
            page = await listing.list_page(wanted, 17, cursor or None)
            found += [entry.id for entry in page.calls]
            cursor = page.cursor
        assert found == sorted((call.id for call in noted if fits(call)), reverse=True)
    for call in noted[::40]:
        shown = await listing.find(call.id, "default")
        assert shown is not None
        assert shown[0].args == {"number": int(call.kept[2])}  # type: ignore[union-attr]
    await blocks.close()


async def test_the_oldest_go_with_their_marks(tmp_path: Path) -> None:
    """In small steps, by their number, bytes or age."""
    database = open_history(f"sqlite:///{tmp_path / 'ledger.db'}")
    assert database is not None
    blocks = SqlBlocks(database, HistoryBounds(3600, 100, 10_000_000))
    await blocks.open()
    now = int(time.time() * 1000)
    old = list(Packer().pack([note(now - 7_200_000, number) for number in range(10)]))
    for block in old + [one for at in range(300) for one in Packer().pack([note(now + at, at)])]:
        await blocks.keep([block], [])

    steps = 1
    while await blocks.forget(time.time()):
        steps += 1

    left = await blocks.find(BlockSearch(CallFilter("default"), "", "g", "g", 1000))
    marked = await blocks.find(BlockSearch(CallFilter("default", caller="bob"), "", "g", "g", 1000))
    assert (len(left), steps > 10) == (100, True)
    assert len(marked) == 20
    assert (await database.read("measure_history"))[0][0] == 100
    await blocks.close()


@pytest.mark.parametrize(("most", "expected"), [(100, 220), (1000, 1244), (5000, 1500)])
async def test_the_newest_stay(store: str, most: int, expected: int) -> None:
    """As many as there may be at least: a block goes only where so many are left without it."""
    blocks = make_blocks(store, HistoryBounds(1e9, most, 10_000_000))
    await blocks.open()
    now, packer = int(time.time() * 1000) - 10_000, Packer()
    noted = [note(now + number, number) for number in range(1500)]

    for start in range(0, 1500, 256):
        await blocks.keep(list(packer.pack(noted[start : start + 256])), packer.take_sums())
        while await blocks.forget(time.time()):
            pass

    page = await BlockReader(blocks, 1e9).list_page(CallFilter("default"), 2000, None)
    assert len(page.calls) == expected
    assert [entry.id for entry in page.calls] == [call.id for call in noted[::-1][:expected]]
    await blocks.close()


async def test_two_servers_forget_no_more_than_one(postgres_url: str) -> None:
    """Each knows only for a while how many there are, and counts before it forgets."""
    servers = [make_blocks(postgres_url, HistoryBounds(1e9, 100, 10_000_000)) for _ in range(2)]
    for server in servers:
        await server.open()
    now, packer = int(time.time() * 1000) - 10_000, Packer()
    for number in range(300):
        [block] = packer.pack([note(now + number, number)])
        await servers[number % 2].keep([block], [])
        if number == 90:
            await asyncio.gather(*(server.forget(time.time()) for server in servers))

    for server in servers:
        while await server.forget(time.time()):
            pass

    page = await BlockReader(servers[0], 1e9).list_page(CallFilter("default"), 2000, None)
    assert len(page.calls) == 100
    for server in servers:
        await server.close()


class Broken(MemoryBlocks):
    """A place that cannot be used at times."""

    is_broken = True
    failure: type[Exception] = StoreUnavailable

    async def keep(self, *args: object) -> None:
        """Refuse, or keep."""
        if self.is_broken:
            raise self.failure
        await super().keep(*args)  # type: ignore[arg-type]


async def test_what_is_not_written_before_the_end_is_counted_and_told(caplog: pytest.LogCaptureFixture) -> None:
    """In one line, whether there was no room or no place; once only."""
    notes = PendingCalls(1_000_000, None)
    history = History(notes, Packer(), Broken(BOUNDS), 1e9)
    await history.open()
    for _ in range(3):
        request = CallRequest(ToolCall(name="add", args={}, id="1"))
        notes.note(new_invocation(request, add.compiled, None), "success", 0.001)

    await history.close()
    await history.close()

    assert history.dropped == 3
    told = [record.getMessage() for record in caplog.records if "lacks" in record.getMessage()]
    assert told == ["the history lacks 3 calls, which could not be written before this server ended"]


async def test_what_cannot_be_written_is_written_later() -> None:
    """As far as there is room for it; the sums, too."""
    place = Broken(BOUNDS)
    notes = PendingCalls(1_000_000, None)
    history = History(notes, Packer(), place, 1e9)
    request = CallRequest(ToolCall(name="add", args={}, id="1"))
    ids = []
    for _ in range(3):
        invocation = new_invocation(request, add.compiled, None)
        ids.append(invocation.id)
        notes.note(invocation, "success", 0.001)
        with pytest.raises(StoreUnavailable):
            await history.settle()
    place.is_broken = False
    await history.settle()

    assert (await history.summarize(["name"], CallFilter("default"))).total.calls == 3
    assert [entry.id for entry in (await history.list(CallFilter("default"), 10, None)).calls] == ids[::-1]


async def test_whoever_asks_is_answered_while_nothing_can_be_written(caplog: pytest.LogCaptureFixture) -> None:
    """For a reason that nobody thought of, too; it is told."""
    place = Broken(BOUNDS)
    place.failure = ValueError
    notes = PendingCalls(1_000_000, None)
    history = History(notes, Packer(), place, 1e9)
    request = CallRequest(ToolCall(name="add", args={}, id="1"))
    notes.note(new_invocation(request, add.compiled, None), "success", 0.001)

    found = [len((await history.list(CallFilter("default"), 10, None)).calls)]
    place.is_broken = False
    found.append(len((await history.list(CallFilter("default"), 10, None)).calls))

    assert found == [1, 1]
    assert [record.getMessage() for record in caplog.records] == ["calls could not be written into the history"]


async def test_a_call_that_cannot_be_packed_takes_no_other_with_it(caplog: pytest.LogCaptureFixture) -> None:
    """It alone is left out, counted, and told with the reason; it counts in sums."""
    notes = PendingCalls(1_000_000, CallRedactor(Redaction(), 1000))
    history = History(notes, Packer(), MemoryBlocks(BOUNDS), 1e9)
    ids = []
    for number in range(9):
        # More digits than Python writes to look for a secret in them; a program in this process may pass that.
        args = {"a": 10**5000 if number in (3, 4) else number}
        invocation = new_invocation(CallRequest(ToolCall(name="add", args=args, id="1")), add.compiled, None)
        mask = SecretMask()
        mask.add("canary")
        invocation.args, invocation.secrets = args, CallSecrets(mask=mask)
        ids.append(invocation.id)
        notes.note(invocation, "success", 0.001)

    found = await history.list(CallFilter("default"), 10, None)

    assert [entry.id for entry in found.calls] == [*ids[:3], *ids[5:]][::-1]
    assert history.dropped == 2
    told = [record for record in caplog.records if "lacks" in record.getMessage()]
    assert [record.getMessage() for record in told] == ["the history lacks 2 calls, which could not be packed"]
    assert told[0].exc_info is not None
    assert (await history.summarize(["name"], CallFilter("default"))).total.calls == 9


def test_a_block_of_an_earlier_version_is_read() -> None:
    """Its calls belong to nothing that was kept."""
    blocks = list(Packer().pack([note_at(1_700_000_000.0, number) for number in range(3)]))
    earlier = to_json(from_json(blocks[0].heads)[:9])

    heads = read_heads(earlier)

    assert [heads.read_origin(index) for index in range(3)] == [CallOrigin()] * 3
    assert list(heads.find(CallFilter("default", conversation_id="chat"), "", "g")) == []
    assert list(heads.find(CallFilter("default", names=["add"], request_id="r"), "", "g")) == []
    assert len(list(heads.find(CallFilter("default"), "", "g"))) == 3
