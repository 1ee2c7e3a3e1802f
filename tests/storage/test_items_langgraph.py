"""What LangGraph promises of its stores holds for ours, through LangGraph's own interface."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchItem,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

from sidecall.features.store.item_store import ItemStore
from tests.kit.ledgers import Clock, Place
from tests.storage.langgraph_store import AsLangGraph

DOCS = [
    (("docs", "public"), "one", {"title": "First", "author": "Ada", "score": 4.5, "tags": ["new"]}),
    (("docs", "private"), "two", {"title": "Second", "author": "Bob", "score": 3, "tags": ["draft"]}),
    (("pictures", "public"), "three", {"title": "Third", "author": "Ada", "score": 5, "meta": {"size": {"w": 10}}}),
    (("pictures", "public", "old"), "four", {"title": "Fourth", "author": None, "score": 0}),
]


@pytest.fixture
def clock() -> Clock:
    """Give a clock that stands still."""
    return Clock(1_000_000.0)


@pytest.fixture
async def adapted(ledger: Place, clock: Clock) -> AsLangGraph:
    """Give our store as one of LangGraph's."""
    return AsLangGraph(ItemStore(ledger.items(clock)))


def _search(*path: str, **options: Any) -> Callable[[Any], Any]:
    return lambda store: [(item.namespace, item.key, item.value) for item in store.search(path, **options)]


def _list(**options: Any) -> Callable[[Any], Any]:
    return lambda store: store.list_namespaces(**options)


SAME: list[Callable[[Any], Any]] = [
    lambda store: [(item.namespace, item.key, item.value) for item in [store.get(*DOCS[0][:2])]],
    lambda store: store.get(("docs", "private"), "one"),
    lambda store: store.get(("docs", "public"), "two"),
    _search("docs"),
    _search("pictures", "public"),
    _search("nowhere"),
    _search(),
    _search(filter={"author": "Ada"}),
    _search(filter={"author": None}),
    _search(filter={"author": "Ada", "score": {"$gt": 4.6}}),
    _search(filter={"score": {"$gte": 3, "$lt": 5}}),
    _search(filter={"score": {"$lte": 3}}),
    _search(filter={"score": {"$eq": 5}}),
    _search(filter={"title": {"$ne": "Third"}}),
    _search(filter={"tags": ["new"]}),
    _search(filter={"meta": {"size": {"w": 10}}}),
    _search(filter={"meta": {"size": {"w": 11}}}),
    _search(filter={"missing": 1}),
    _search("docs", filter={"author": "Ada"}),
    _search(limit=2),
    _search(limit=2, offset=1),
    _search(offset=3),
    _list(),
    _list(prefix=("docs",)),
    _list(suffix=("public",)),
    _list(prefix=("*", "public")),
    _list(suffix=("public", "*")),
    _list(prefix=("pictures",), suffix=("old",)),
    _list(prefix=("docs",), suffix=("*", "*", "public")),
    _list(max_depth=1),
    _list(prefix=("pictures",), max_depth=2),
    _list(limit=1, offset=1),
]


async def test_reading_finds_what_langgraphs_own_store_finds(adapted: AsLangGraph) -> None:
    """In the same order."""
    reference = InMemoryStore()
    for place in (adapted, reference):
        await place.abatch([PutOp(*doc) for doc in DOCS])

    ours = await asyncio.to_thread(lambda: [read(adapted) for read in SAME])

    assert ours == [read(reference) for read in SAME]


BAD_NAMESPACES: list[Any] = [(), ("the", "thing.about"), ("some", "fun", ""), ("langgraph", "foo")]


@pytest.mark.parametrize("namespace", BAD_NAMESPACES)
async def test_namespaces_that_langgraph_reserves_are_refused_by_it(adapted: AsLangGraph, namespace: Any) -> None:
    """What goes past its methods is kept all the same."""
    with pytest.raises(InvalidNamespaceError):
        await adapted.aput(namespace, "a", {"foo": "bar"})

    await adapted.abatch([PutOp(namespace, "a", {"foo": "bar"})])
    [item] = await adapted.abatch([GetOp(namespace, "a")])
    assert item is not None
    await adapted.abatch([PutOp(namespace, "a", None)])
    assert await adapted.abatch([GetOp(namespace, "a")]) == [None]


async def test_a_batch_is_answered_in_its_order(adapted: AsLangGraph) -> None:
    """No matter what kinds of operations it has."""
    await adapted.abatch([PutOp(*doc) for doc in DOCS])

    results: list[Any] = await adapted.abatch(
        [
            GetOp(("docs", "public"), "one"),
            PutOp(("docs", "public"), "five", {"title": "Fifth"}),
            SearchOp(("docs",), {"author": "Bob"}, 10, 0),
            ListNamespacesOp((MatchCondition("suffix", ("public",)),), None, 10, 0),
            GetOp(("docs",), "nothing"),
        ]
    )

    assert results[0].value == DOCS[0][2]
    assert results[1] is None
    assert [(type(item), item.key, item.score) for item in results[2]] == [(SearchItem, "two", None)]
    assert results[3] == [("docs", "public"), ("pictures", "public")]
    assert results[4] is None
    again = await adapted.aget(("docs", "public"), "five")
    assert again is not None
    assert again.value == {"title": "Fifth"}


async def test_an_update_keeps_the_time_of_creation(adapted: AsLangGraph, clock: Clock) -> None:
    """And changes the other."""
    await adapted.aput(("docs",), "one", {"n": 1})
    before = await adapted.aget(("docs",), "one")
    clock.now += 1
    await adapted.aput(("docs",), "one", {"n": 2})
    after = await adapted.aget(("docs",), "one")

    assert before is not None
    assert after is not None
    assert after.value == {"n": 2}
    assert after.created_at == before.created_at
    assert after.updated_at > before.updated_at


async def test_a_store_that_forgets_says_so(adapted: AsLangGraph, clock: Clock) -> None:
    """Minutes after the last use, which LangGraph tells of each reading."""
    await adapted.aput(("docs",), "kept", {"n": 1}, ttl=None)
    await adapted.aput(("docs",), "used", {"n": 1}, ttl=1)
    await adapted.aput(("docs",), "unused", {"n": 1}, ttl=1)
    clock.now += 40
    assert await adapted.aget(("docs",), "used") is not None
    assert await adapted.aget(("docs",), "unused", refresh_ttl=False) is not None
    clock.now += 40
    found = await adapted.asearch(("docs",), refresh_ttl=False)
    clock.now += 40

    assert [item.key for item in found] == ["kept", "used"]
    assert [item.key for item in await adapted.asearch(("docs",))] == ["kept"]


async def test_an_index_is_taken_and_has_no_effect(adapted: AsLangGraph) -> None:
    """There are no embeddings, as in LangGraph's own store without any; a query is refused, not ignored."""
    await adapted.aput(("docs",), "one", {"text": "tea"}, index=["text"])
    await adapted.aput(("docs",), "two", {"text": "cake"}, index=False)

    assert len(await adapted.asearch(("docs",))) == 2
    with pytest.raises(NotImplementedError, match="no embeddings"):
        await adapted.asearch(("docs",), query="something hot")
