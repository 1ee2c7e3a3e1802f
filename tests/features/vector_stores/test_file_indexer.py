"""A file is put into a store while others work on the same, which is answered with what is so."""

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

import pytest

from sidecall.features.ledger.open_ledger import open_file_store
from sidecall.features.vector_stores.chunking import Cut
from sidecall.features.vector_stores.records import VectorStoreBounds
from sidecall.features.vector_stores.stores import VectorStores
from sidecall.kernel.concurrency.pools import PDFS
from sidecall.kernel.core.overload import StoreUnavailable
from sidecall.kernel.ports.file_errors import FileBusy, TooManyFiles, UnknownFile, UnknownVectorStore
from sidecall.storage.database import Row
from tests.kit.faulty import FaultyDatabase

HERONS = b"Grey herons fish in shallow water."


class Interrupted(FaultyDatabase):
    """A database in which something else happens right after a statement."""

    def __init__(self, store_url: str) -> None:
        super().__init__(open_file_store(store_url))
        self.then: dict[str, Callable[[], Awaitable[Any]]] = {}

    async def write(self, statement: str, *values: Any, size: int | None = None) -> Row | None:
        """Carry out a statement, and what is to happen then."""
        row = await super().write(statement, *values, size=size)
        await self._go_on(statement)
        return row

    async def write_all(self, statement: str, rows: Sequence[Row]) -> None:
        """Carry out a statement for many rows, and what is to happen then."""
        await super().write_all(statement, rows)
        await self._go_on(statement)

    async def _go_on(self, statement: str) -> None:
        if (step := self.then.pop(statement, None)) is not None:
            await step()


@pytest.fixture
def database(store_url: str) -> Interrupted:
    """Give the database of the stores."""
    return Interrupted(store_url)


@pytest.fixture
async def stores(database: Interrupted) -> AsyncIterator[VectorStores]:
    """Give stores with room for two files."""
    made = VectorStores(database, VectorStoreBounds(files=2, bytes=3000, stores=2))
    await made.open()
    yield made
    await made.close()


async def _fill(stores: VectorStores) -> tuple[str, str]:
    file = await stores.files.put("one", "herons.md", "assistants", HERONS)
    return (await stores.create("one", "birds", {})).id, file.id


async def test_many_requests_put_the_same_file_there(stores: VectorStores) -> None:
    """All are shown it, and it is there once."""
    store, file = await _fill(stores)

    members = await asyncio.gather(*(stores.add("one", store, file, {"year": 2026}) for _ in range(8)))

    assert {(it.file, it.status in ("completed", "in_progress")) for it in members} == {(file, True)}
    assert (await stores.find("one", store)).completed == 1
    assert len(await stores.search("one", ["herons"], 10)) == 1


@pytest.mark.parametrize("statement", ["make_way", "put_member", "put_piece", "put_attribute"])
@pytest.mark.parametrize(
    ("what", "error"), [("store", UnknownVectorStore), ("file", UnknownFile), ("member", FileBusy)]
)
async def test_what_is_deleted_meanwhile_is_said(
    stores: VectorStores, database: Interrupted, statement: str, what: str, error: type[Exception]
) -> None:
    """By its own name, and nothing of it is found or takes room."""
    store, file = await _fill(stores)
    deletions: dict[str, Callable[[], Awaitable[None]]] = {
        "store": lambda: stores.delete("one", store),
        "file": lambda: stores.files.delete("one", file),
        "member": lambda: stores.remove("one", store, file),
    }
    if (what, statement) == ("member", "make_way"):
        return  # It is not there yet.
    database.then[statement] = deletions[what]

    with pytest.raises(error):
        await stores.add("one", store, file, {"year": 2026})

    assert await stores.search("one", ["herons"], 10) == []
    assert await database.read("list_members", "one", store, 1) == []
    assert await database.read("show_pieces", "one", 1, where="$2") == []


async def test_another_one_that_is_put_there_meanwhile_stands(stores: VectorStores, database: Interrupted) -> None:
    """The same wish is answered with it; another one takes its place."""
    store, file = await _fill(stores)
    database.then["make_way"] = lambda: stores.add("one", store, file, {"year": 2026})
    same = await stores.add("one", store, file, {"year": 2026})
    database.then["make_way"] = lambda: stores.add("one", store, file, {"year": 2026})
    other = await stores.add("one", store, file, {"year": 2025}, Cut(400, 0))

    assert (same.status, same.attributes) == ("completed", {"year": 2026})
    assert (other.status, other.attributes) == ("completed", {"year": 2025})
    assert await stores.find_member("one", store, file) == other


async def test_one_that_is_being_put_there_is_not_disturbed(stores: VectorStores, database: Interrupted) -> None:
    """It is shown as it is, and who wants it otherwise is told to try again."""
    store, file = await _fill(stores)
    seen = []

    async def come_between() -> None:
        seen.append(await stores.add("one", store, file, {}))
        with pytest.raises(FileBusy, match="otherwise just now"):
            await stores.add("one", store, file, {"year": 2025})

    database.then["put_member"] = come_between
    assert (await stores.add("one", store, file, {})).status == "completed"

    assert [it.status for it in seen] == ["in_progress"]


async def test_a_file_whose_pieces_could_not_be_kept_can_be_put_there_again(
    stores: VectorStores, database: Interrupted
) -> None:
    """Nobody waits for it."""
    store, file = await _fill(stores)
    database.before["finish_member"] = 1

    with pytest.raises(StoreUnavailable):
        await stores.add("one", store, file, {})
    assert (await stores.find("one", store)).in_progress == 0
    assert (await stores.add("one", store, file, {})).status == "completed"


async def test_where_there_is_no_room_that_is_said(stores: VectorStores) -> None:
    """And only there."""
    store, file = await _fill(stores)
    large = await stores.files.put("one", "large.md", "assistants", b"word " * 300)

    with pytest.raises(TooManyFiles):
        await stores.add("one", store, large.id, {})
    assert (await stores.add("one", store, file, {})).status == "completed"


async def test_texts_do_not_wait_for_pdf(store_url: str) -> None:
    """Which two tenants may read for twenty seconds each; another PDF waits."""
    stores = VectorStores(open_file_store(store_url), VectorStoreBounds())
    await stores.open()
    store = await stores.create("one", "", {})
    texts = [
        await stores.files.put("one", name, "user_data", body) for name, body in (("a.txt", b"tea"), ("b", b"%PDF-"))
    ]
    end = threading.Event()
    slow = [asyncio.create_task(PDFS.run_for((tenant, ""), end.wait)) for tenant in ("two", "three")]
    await asyncio.sleep(0)

    other = asyncio.create_task(stores.add("one", store.id, texts[1].id, {}))
    assert (await stores.add("one", store.id, texts[0].id, {})).status == "completed"
    assert not other.done()
    end.set()
    await asyncio.gather(*slow)
    assert (await other).status == "failed"
    await stores.close()
