"""Files are put into stores and found there, by their own tenant alone, wherever they are kept."""

import asyncio
from typing import Any

import pytest

from sidecall.features.ledger.open_ledger import open_file_store
from sidecall.features.vector_stores.chunking import Cut
from sidecall.features.vector_stores.records import PageRequest, VectorStoreBounds
from sidecall.features.vector_stores.stores import VectorStores
from sidecall.kernel.ports.file_errors import InvalidFile, TooManyFiles, UnknownFile, UnknownVectorStore
from sidecall.storage.database import LONG_READS
from tests.kit.faulty import SlowDatabase

HERONS = b"# Herons\n\nGrey herons fish in shallow water.\n"
OWLS = b"Owls hunt at night. They do not fish."


async def fill(stores: VectorStores, tenant: str = "one", **files: bytes) -> tuple[str, list[str]]:
    """Make a store with these files, and return their ids."""
    store = await stores.create(tenant, "birds", {"of": "the lake"})
    kept = [await stores.files.put(tenant, f"{name}.md", "assistants", body) for name, body in files.items()]
    for file in kept:
        await stores.add(tenant, store.id, file.id, {"name": file.name})
    return store.id, [file.id for file in kept]


async def test_passages_are_found_best_first(stores: VectorStores) -> None:
    """With their file's id, name and attributes; of words their stems count, and names."""
    store, [herons, owls] = await fill(stores, herons=HERONS, owls=OWLS)

    found = await stores.search("one", ["where does a heron fish?"], 10)

    assert [it.file_id for it in found] == [herons, owls]
    assert (found[0].filename, found[0].text, found[0].store) == ("herons.md", HERONS.decode().strip(), store)
    assert found[0].attributes == {"name": "herons.md"}
    assert 0 < found[1].score < found[0].score < 1
    assert [it.file_id for it in await stores.search("one", ["fish", "night"], 1)] == [owls]
    assert [it.file_id for it in await stores.search("one", ["owls.md"], 10)] == [owls]
    assert await stores.search("one", ["zebra"], 10) == []


async def test_what_is_another_tenants_is_not_there(stores: VectorStores) -> None:
    """Neither found nor read, changed or deleted."""
    store, [herons] = await fill(stores, herons=HERONS)
    theirs, [own] = await fill(stores, "two", herons=OWLS)

    assert await stores.search("three", ["herons"], 10) == []
    assert [it.file_id for it in await stores.search("two", ["fish"], 10)] == [own]
    assert await stores.search("two", ["fish"], 10, None, [store]) == []
    for attempt in (
        stores.files.find("two", herons),
        stores.files.read("two", herons),
        stores.files.delete("two", herons),
        stores.find_member("two", store, herons),
        stores.remove("two", store, herons),
        stores.add("two", theirs, herons, {}),
        stores.files.delete("two", "file-\0"),
        stores.remove("two", store, "\0"),
    ):
        with pytest.raises(UnknownFile):
            await attempt
    for asked in (
        stores.find("two", store),
        stores.delete("two", store),
        stores.add("two", store, own, {}),
        stores.list_members("two", store, PageRequest()),
        stores.update("two", store, "b", {}),
        stores.delete("two", "\0"),
    ):
        with pytest.raises(UnknownVectorStore):
            await asked
    assert (await stores.find("one", store)).completed == 1
    assert await stores.search("two", ["herons"], 10, None, [store]) == []


async def test_what_is_deleted_is_not_found(stores: VectorStores) -> None:
    """Taken out of one store, out of all with its file, and with its store."""
    store, [herons, owls] = await fill(stores, herons=HERONS, owls=OWLS)
    second = (await stores.create("one", "", {})).id
    await stores.add("one", second, herons, {})

    assert len(await stores.search("one", ["herons"], 10)) == 1  # One text, though two stores have it.
    await stores.remove("one", store, herons)
    assert len(await stores.search("one", ["herons"], 10)) == 1
    await stores.files.delete("one", herons)
    assert await stores.search("one", ["herons"], 10) == []
    await stores.delete("one", store)
    assert await stores.search("one", ["owls"], 10) == []
    assert (await stores.files.find("one", owls)).size == len(OWLS)
    assert [it.id for it in (await stores.list("one", PageRequest())).items] == [second]


async def test_a_file_is_put_in_the_place_of_what_is_there_of_it(stores: VectorStores) -> None:
    """With other attributes, and cut otherwise."""
    store, [herons] = await fill(stores, herons=b"one two three. " * 40)

    member = await stores.add("one", store, herons, {"year": 2026}, Cut(400, 0))

    assert (member.status, member.attributes, member.cut) == ("completed", {"year": 2026}, Cut(400, 0))
    assert member.size == 598
    assert (await stores.find("one", store)).size == 598
    assert sorted(len(it.text) for it in await stores.search("one", ["three"], 10)) == [209, 389]


@pytest.mark.parametrize(
    ("name", "body", "code", "message"),
    [
        ("a.bin", b"\0\1", "unsupported_file", "The file is neither a text in UTF-8 nor a PDF."),
        ("a.txt", b"caf\xe9", "unsupported_file", "The file is neither a text in UTF-8 nor a PDF."),
        ("a.txt", b" \n", "invalid_file", "There is no text in the file."),
    ],
)
async def test_what_cannot_be_read_says_why(
    stores: VectorStores, name: str, body: bytes, code: str, message: str
) -> None:
    """It stays in the store, as failed."""
    store = (await stores.create("one", "", {})).id
    file = await stores.files.put("one", name, "assistants", body)

    member = await stores.add("one", store, file.id, {})

    assert (member.status, member.error) == ("failed", (code, message))
    assert [(it.completed, it.failed) for it in (await stores.list("one", PageRequest())).items] == [(0, 1)]


async def test_one_tenant_has_so_much_room(stores: VectorStores) -> None:
    """Of files, of bytes with those of pieces, and of stores; another's is another's."""
    store, [large] = await fill(stores, large=b"word " * 300)

    with pytest.raises(TooManyFiles, match="Files that you may keep: 4, with 3,000 bytes"):
        await stores.files.put("one", "b", "assistants", b"x" * 2)
    await stores.remove("one", store, large)
    await stores.files.put("one", "b", "assistants", b"x" * 10)
    with pytest.raises(TooManyFiles):
        await stores.add("one", store, large, {})
    await stores.files.delete("one", large)
    for name in "cde":
        await stores.files.put("one", name, "assistants", b"x")
    with pytest.raises(TooManyFiles):
        await stores.files.put("one", "f", "assistants", b"")
    await stores.create("one", "", {})
    with pytest.raises(TooManyFiles, match="Vector stores that you may have: 2"):
        await stores.create("one", "", {})
    await fill(stores, "two", a=b"a")


async def test_lists_have_pages(stores: VectorStores) -> None:
    """Newest first unless it is said otherwise."""
    store, ids = await fill(stores, a=b"a", b=b"b", c=b"c")
    picture = await stores.files.put("one", "d", "vision", b"d")

    first = await stores.files.list("one", PageRequest(2))
    rest = await stores.files.list("one", PageRequest(2, "desc", first.items[-1].id))
    assert ([it.id for it in first.items], first.has_more) == ([picture.id, ids[2]], True)
    assert ([it.id for it in rest.items], rest.has_more) == ([ids[1], ids[0]], False)
    assert [it.id for it in (await stores.files.list("one", PageRequest(), "vision")).items] == [picture.id]
    members = await stores.list_members("one", store, PageRequest(2, "asc", ids[0]), "completed")
    assert [it.file for it in members.items] == ids[1:]
    assert (await stores.list_members("one", store, PageRequest(), "failed")).items == []


@pytest.mark.parametrize("name", ["", "x" * 256, "a\nb", "a\0b"])
async def test_a_file_has_a_name_that_can_be_shown(stores: VectorStores, name: str) -> None:
    """Any other is refused."""
    with pytest.raises(InvalidFile):
        await stores.files.put("one", name, "assistants", b"a")


HOSTILE: list[Any] = [
    '"', "'", "''", '" OR 1=1 --', "AND", "NOT", "NEAR(", "a* b^2 {x}: y", "\\", "\0", "\ud800", "a'b\\", ":*", "!&|",
    "<->", "(", "٣", "🦉", "x" * 2000, "ﬁsh", "%s $1 ?1 {where}", "the of and", "-", "^a", "col:val", "e\u0301",
]  # fmt: skip


@pytest.mark.parametrize("query", HOSTILE)
async def test_no_query_is_syntax(stores: VectorStores, query: str) -> None:
    """All texts are words."""
    await fill(stores, owls=OWLS)

    await stores.search("one", [query, f"{query} owls"], 10)
    assert len(await stores.search("one", [f"owls {query} owls"], 10)) == 1


async def test_one_tenants_slow_searches_hold_up_no_others(store_url: str) -> None:
    """They take half of the places, of which each database has fewer than connections that read."""
    database = SlowDatabase(open_file_store(store_url), "slow")
    stores = VectorStores(database, VectorStoreBounds())
    await stores.open()
    file = await stores.files.put("quick", "a.txt", "user_data", b"tea")
    store = await stores.create("quick", "", {})
    await stores.add("quick", store.id, file.id, {})
    slow = [asyncio.create_task(stores.search("slow", ["tea"], 5)) for _ in range(50)]
    await asyncio.sleep(0)

    assert [it.text for it in await stores.search("quick", ["tea"], 5)] == ["tea"]
    assert database.begun == LONG_READS[database.dialect] // 2
    for task in slow:
        task.cancel()
    await asyncio.wait(slow)
    await stores.close()
