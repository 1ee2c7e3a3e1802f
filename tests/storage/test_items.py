"""What tools remember, in each place where it can be kept."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from sidecall import PutOp
from sidecall.features.store.item_store import ItemStore
from sidecall.features.store.items import ItemTooLarge
from tests.kit.ledgers import Clock

USERS = ("users",)
MINUTE = 60.0


VALUES: list[Any] = [
    True, 0, -1.5, 10**30, "", "plain", "ü€😀", "a\0b", "\ud800", [], {}, [1, [2, {"a": None}]],
    {"": {"a\0": "\0"}, "a.b": 1, "$x": [True]},
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=ascii)
async def test_what_was_put_can_be_got(store: ItemStore, clock: Clock, value: Any) -> None:
    """All that JSON can say, with its place and its times."""
    await store.aput(("users", "ada"), "a", value)
    item = await store.aget(("users", "ada"), "a")

    assert item is not None
    assert (item.namespace, item.key, item.value) == (("users", "ada"), "a", value)
    assert item.created_at.timestamp() == item.updated_at.timestamp() == clock.now
    assert type(item.value) is type(value)
    assert await store.asearch(("users",)) == [item]


async def test_none_forgets_an_item(store: ItemStore) -> None:
    """As it does in LangGraph's stores, where there is none, too."""
    await store.aput(USERS, "a", 1)
    await store.aput(USERS, "a", None)
    await store.aput(USERS, "b", None)

    assert await store.aget(USERS, "a") is None
    assert await store.asearch(()) == []


PLACES = [
    (),
    ("",),
    ("a", ""),
    ("", "a"),
    ("a\0",),
    ("a.b",),
    ("a", "b"),
    ("langgraph",),
    ('"',),
    ('a"', "b"),
    ("a,b",),
    ("a", ",b"),
    ("ü",),
    ("*",),
    ("%", "_"),
]


async def test_names_of_all_kinds_stay_apart(store: ItemStore) -> None:
    """In keys, namespaces and tenants; a batch puts them where `put` does not."""
    keys = ["", "a", "a\0", "\ud800", "ü", '"', "%", "_", "x" * 5000]
    for number, place in enumerate(PLACES):
        for key in keys:
            await store.of(f"t{number}\0").abatch([PutOp(place, key, [number, key])])
            await store.abatch([PutOp(place, key, [list(place), key])])

    for number, place in enumerate(PLACES):
        other = store.of(f"t{number}\0")
        assert [item.value for item in await other.asearch((), limit=100)] == [[number, key] for key in keys]
        found = [await store.aget(place, key) for key in keys]
        assert [item and item.value for item in found] == [[list(place), key] for key in keys]
        below = {item.namespace for item in await store.asearch(place, limit=1000)}
        assert below == {other for other in PLACES if other[: len(place)] == place}
    assert await store.alist_namespaces() == sorted(PLACES)


async def test_a_second_put_replaces_the_value(store: ItemStore, clock: Clock) -> None:
    """And keeps the time of the first, and the place in lists."""
    await store.aput(USERS, "a", 1)
    await store.aput(USERS, "b", 2)
    clock.now += 5
    await store.aput(USERS, "a", 3)
    item = await store.aget(USERS, "a")

    assert item is not None
    assert (item.value, item.created_at.timestamp(), item.updated_at.timestamp()) == (3, clock.now - 5, clock.now)
    assert [item.key for item in await store.asearch(USERS)] == ["a", "b"]


async def test_what_was_deleted_is_gone(filled: ItemStore) -> None:
    """Deleting what is not there is no error; put again it is the newest."""
    await filled.adelete(("users", "ada"), "tea")
    await filled.adelete(("users", "ada"), "tea")
    assert await filled.aget(("users", "ada"), "tea") is None

    await filled.aput(("users", "ada"), "tea", 1)
    assert [item.key for item in await filled.asearch(())] == ["cake", "note", "milk", "tea"]


async def test_nobody_changes_what_others_read(store: ItemStore) -> None:
    """Values are copied on their way in and out."""
    value = {"list": [1]}
    await store.aput(USERS, "mine", value)
    value["list"].append(2)
    for item in (await store.aget(USERS, "mine"), *await store.asearch(USERS)):
        assert item is not None
        item.value["list"].append(3)

    again = await store.aget(USERS, "mine")

    assert again is not None
    assert again.value == {"list": [1]}


FOUND: list[Any] = [
    (("users",), {}, ["tea", "cake", "milk"]),  # and below it
    ((), {}, ["tea", "cake", "note", "milk"]),  # everywhere
    (("users", "ada"), {}, ["tea", "milk"]),
    (("use",), {}, []),  # whole names only
    (("*",), {}, []),  # a star is a name here
    ((), {"limit": 1}, ["tea"]),
    ((), {"limit": 0}, []),
    ((), {"offset": 2}, ["note", "milk"]),
    ((), {"offset": 9}, []),
    ((), {"filter": {}}, ["tea", "cake", "note", "milk"]),
    ((), {"filter": {"kind": "food"}}, ["cake"]),
    ((), {"filter": {"kind": "drink", "cups": 2}}, []),
    ((), {"filter": {"kind": "drink"}, "limit": 1, "offset": 1}, ["milk"]),
    ((), {"filter": {"kind": "drink"}, "limit": 0}, []),
    ((), {"filter": {"cups": {"$gt": 1}}}, ["cake", "milk"]),
    ((), {"filter": {"cups": {"$gte": 3}}}, ["cake", "milk"]),
    ((), {"filter": {"cups": {"$lt": 3}}}, ["tea"]),
    ((), {"filter": {"cups": {"$lte": 3}}}, ["tea", "cake"]),
    ((), {"filter": {"cups": {"$gt": 1, "$lt": 10}}}, ["cake"]),
    ((), {"filter": {"cups": {"$gt": "1"}}}, []),  # texts and numbers are not compared
    ((), {"filter": {"kind": {"$gt": "drink"}}}, ["cake"]),
    ((), {"filter": {"kind": {"$eq": "food"}}}, ["cake"]),
    ((), {"filter": {"kind": {"$ne": "food"}}}, ["tea", "milk"]),
    ((), {"filter": {"nothing": {"$ne": 1}}}, ["tea", "cake", "milk"]),  # what is missing is None
    ((), {"filter": {"of": None}}, ["cake", "milk"]),
    ((), {"filter": {"of": {"leaf": "green"}}}, ["tea"]),
    ((), {"filter": {"of": {"grams": {"$gt": 2}}}}, ["tea"]),
    ((), {"filter": {"of": {}}}, ["tea"]),
    ((), {"filter": {"tags": ["sweet", "soft"]}}, ["cake"]),
    ((), {"filter": {"tags": ("sweet", "soft")}}, ["cake"]),
    ((), {"filter": {"tags": ["sweet"]}}, []),
    ((), {"filter": {"of.leaf": "green"}}, []),  # a dot is a part of a name
]


@pytest.mark.parametrize(("namespace", "options", "keys"), FOUND)
async def test_items_are_found(filled: ItemStore, namespace: tuple[str, ...], options: Any, keys: list[str]) -> None:
    """By namespace and by members of their values, oldest first."""
    assert [item.key for item in await filled.asearch(namespace, **options)] == keys


async def test_a_filter_finds_one_among_many(store: ItemStore) -> None:
    """More than are read at once; limits count what is found."""
    await asyncio.gather(*(store.aput(USERS, f"{number:04}", {"n": number % 7}) for number in range(1000)))

    found = await store.asearch((), filter={"n": 3}, limit=50, offset=90)
    all_found = await store.asearch((), filter={"n": 3}, limit=1000)

    assert sorted(item.key for item in all_found) == [f"{number:04}" for number in range(3, 1000, 7)]
    assert found == all_found[90:140]


async def test_numbers_may_be_as_large_as_databases_can_count_to(filled: ItemStore) -> None:
    """Anyone who wants all of it may say so, also after the first."""
    most = 2**63 - 1
    everything = [item.key for item in await filled.asearch((), limit=most)]
    filtered = await filled.asearch((), filter={"kind": "drink"}, limit=most, offset=1)

    assert everything == ["tea", "cake", "note", "milk"]
    assert [item.key for item in await filled.asearch((), limit=most, offset=1)] == ["cake", "note", "milk"]
    assert await filled.asearch((), limit=most, offset=most) == []
    assert [item.key for item in filtered] == ["milk"]
    assert len(await filled.alist_namespaces(limit=most, offset=1, max_depth=most)) == 3


REFUSED: list[tuple[str, Callable[[ItemStore], Any], type[Exception], str]] = [
    ("operator", lambda s: s.asearch((), filter={"a": {"$in": [1]}}), ValueError, r"Unsupported operator: \$in"),
    ("query", lambda s: s.asearch((), query="tea"), NotImplementedError, "no embeddings"),
    ("limit", lambda s: s.asearch((), limit=-1), ValueError, "not negative"),
    ("offset", lambda s: s.alist_namespaces(offset=-1), ValueError, "not negative"),
    ("half", lambda s: s.asearch((), limit=2.5), TypeError, "`limit` is a whole number, and not 2.5"),
    ("word", lambda s: s.asearch((), offset="3"), TypeError, "`offset` is a whole number, and not '3'"),
    ("none", lambda s: s.alist_namespaces(limit=None), TypeError, "`limit` is a whole number, and not None"),
    ("half depth", lambda s: s.alist_namespaces(max_depth=0.5), TypeError, "`max_depth` is a whole number"),
    ("huge", lambda s: s.asearch((), limit=10**20), ValueError, r"`limit` .* at most 9,223,372,036,8.*"),
    ("far", lambda s: s.asearch((), offset=10**20), ValueError, r"`offset` .* at most 9,223,372,036,8.*"),
    ("huge list", lambda s: s.alist_namespaces(limit=10**20), ValueError, r"`limit` .* at most 9,223,372,036,8.*"),
    ("nowhere", lambda s: s.aput((), "a", 1), ValueError, r"one part at least, .* and is not \(\)"),
    ("an empty part", lambda s: s.aput(("a", ""), "a", 1), ValueError, r"and is not \('a', ''\)"),
    ("a part with a NUL", lambda s: s.aput(("a\0",), "a", 1), ValueError, r"none that is empty or has a NUL"),
    ("a text", lambda s: s.aput("users", "a", 1), TypeError, r"A namespace is a tuple of texts, .* and not 'users'"),
    ("numbers", lambda s: s.aget((1, 2), "a"), TypeError, "A namespace is a tuple of texts"),
    ("long", lambda s: s.aput(("ü" * 400,), "a", 1), ValueError, "up to 2,000 characters"),
    ("object", lambda s: s.aput(USERS, "a", object()), TypeError, "what JSON can say: Object of type object"),
    ("nan", lambda s: s.aput(USERS, "a", float("nan")), ValueError, "not JSON compliant"),
    ("large", lambda s: s.aput(USERS, "a", "x" * 1024 * 1024), ItemTooLarge, "1,048,578 bytes .* up to 1,048,576"),
    ("ttl", lambda s: s.aput(USERS, "a", 1, ttl=-1), ValueError, "minutes above 0"),
    ("no ttl", lambda s: s.aput(USERS, "a", 1, ttl=0), ValueError, "minutes above 0"),
]  # fmt: skip


@pytest.mark.parametrize(("use", "error", "why"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
async def test_what_cannot_be_done_is_refused(
    store: ItemStore, use: Callable[[ItemStore], Any], error: type[Exception], why: str
) -> None:
    """With a reason, and nothing is kept."""
    with pytest.raises(error, match=why):
        await use(store)

    assert await store.asearch(()) == []


NAMESPACES = [
    ("a", "b", "c"), ("a", "b", "d", "e"), ("a", "b", "d", "i"), ("a", "b", "f"), ("a", "c", "f"), ("a b", "f"),
    ("b", "a", "f"), ("users", "123"),
]  # fmt: skip
LISTED: list[Any] = [
    ({}, NAMESPACES),
    ({"prefix": ("a", "b")}, NAMESPACES[:4]),
    ({"prefix": ["a"]}, NAMESPACES[:5]),
    ({"prefix": ("a", "b", "c")}, NAMESPACES[:1]),
    ({"prefix": ("a", "b", "c", "d")}, []),
    ({"suffix": ("f",)}, NAMESPACES[3:7]),
    ({"suffix": ("*", "f")}, NAMESPACES[3:7]),
    ({"suffix": ("*", "*", "f")}, [*NAMESPACES[3:5], NAMESPACES[6]]),
    ({"prefix": ("a",), "suffix": ("f",)}, NAMESPACES[3:5]),
    ({"prefix": ("a", "*", "f")}, NAMESPACES[3:5]),
    ({"prefix": ("*", "a")}, [NAMESPACES[6]]),
    ({"max_depth": 1}, [("a",), ("a b",), ("b",), ("users",)]),
    ({"prefix": ("a", "b"), "max_depth": 3}, [("a", "b", "c"), ("a", "b", "d"), ("a", "b", "f")]),
    ({"suffix": ("e",), "max_depth": 2}, [("a", "b")]),
    ({"limit": 2, "offset": 1}, NAMESPACES[1:3]),
    ({"max_depth": 1, "offset": 3}, [("users",)]),
    ({"prefix": ("nowhere",)}, []),
]


async def test_namespaces_are_listed(store: ItemStore) -> None:
    """By their first and last parts, and no deeper than is wanted."""
    for namespace in reversed(NAMESPACES):
        for key in ("one", "two"):
            await store.aput(namespace, key, {})
    await store.of("acme").aput(("other",), "one", {})

    listed = [await store.alist_namespaces(**options) for options, _ in LISTED]

    assert listed == [expected for _, expected in LISTED]
    assert await store.of("acme").alist_namespaces() == [("other",)]
    assert await store.of("nobody").alist_namespaces() == []
