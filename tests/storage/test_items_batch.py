"""Operations that are done at once, in each place where items can be kept."""

from typing import Any

import pytest
from langgraph.store import base as langgraph

from sidecall import GetOp, ListNamespacesOp, MatchCondition, PutOp, SearchOp
from sidecall.features.store import operations
from sidecall.features.store.item_store import ItemStore
from sidecall.kernel.ports.store import Item, SearchItem
from tests.kit.ledgers import Clock

ADA = ("users", "ada")
NOW = "1970-01-12T13:46:40+00:00"


@pytest.mark.parametrize("ops", [operations, langgraph], ids=["ours", "LangGraph's"])
async def test_operations_are_done_at_once(filled: ItemStore, ops: Any) -> None:
    """What reads comes first, no matter where it stands; results are in their places."""
    results = await filled.abatch(
        iter(
            [
                ops.PutOp(ADA, "tea", {"kind": "none"}),
                ops.GetOp(ADA, "tea"),
                ops.PutOp(ADA, "coffee", {"kind": "drink"}, ["kind"], 1.5),
                ops.PutOp(("teams",), "note", None),
                ops.SearchOp(("users",), {"kind": "drink"}, 1, 1),
                ops.ListNamespacesOp((ops.MatchCondition("suffix", ("ada",)),)),
                ops.GetOp(("teams",), "nothing"),
            ]
        )
    )

    tea = {"kind": "drink", "cups": 1, "of": {"leaf": "green", "grams": 2.5}}
    assert [results[index] for index in (0, 2, 3, 5, 6)] == [None, None, None, [ADA], None]
    assert results[1].value == tea
    assert [(item.namespace, item.key) for item in results[4]] == [(("users", "ada", "old"), "milk")]
    kept = [await filled.aget(*place) for place in ((ADA, "tea"), (ADA, "coffee"), (("teams",), "note"))]
    assert [item and item.value for item in kept] == [{"kind": "none"}, {"kind": "drink"}, None]


async def test_writing_is_done_in_order(store: ItemStore, clock: Clock) -> None:
    """The last one counts, and its time; reading can be no use of an item."""
    await store.abatch([PutOp(ADA, "a", 1), PutOp(ADA, "a", None), PutOp(ADA, "a", 2, ttl=1)])
    clock.now += 45
    assert [len(found) for found in await store.abatch([SearchOp((), refresh_ttl=False)])] == [1]
    [item] = await store.abatch([GetOp(ADA, "a", refresh_ttl=False)])
    clock.now += 45

    assert item.value == 2
    assert await store.abatch([GetOp(ADA, "a")]) == [None]
    assert await store.abatch([]) == []


NAMESPACES = [("a", "b", "c"), ("a", "b"), ("a", "x", "c"), ("b", "b", "c"), ("c",)]
LISTED: list[Any] = [
    ((), sorted(NAMESPACES)),
    ((("prefix", ("a",)), ("prefix", ("*", "b"))), [("a", "b"), ("a", "b", "c")]),
    ((("prefix", ("a", "b")), ("prefix", ("a",)), ("suffix", ("c",))), [("a", "b", "c")]),
    ((("suffix", ("c",)), ("suffix", ("b", "*"))), [("a", "b", "c"), ("b", "b", "c")]),
    ((("prefix", ("a",)), ("prefix", ("b",))), []),
    ((("suffix", ("b",)), ("suffix", ("c",))), []),
]


async def test_namespaces_fulfil_all_conditions(store: ItemStore) -> None:
    """However many there are of a kind."""
    await store.abatch([PutOp(namespace, "one", {}) for namespace in NAMESPACES])

    listed = await store.abatch(
        [ListNamespacesOp(tuple(MatchCondition(*condition) for condition in conditions)) for conditions, _ in LISTED]
    )

    assert listed == [expected for _, expected in LISTED]


REFUSED: list[Any] = [
    ("operation", "tea", ValueError, "Unknown operation type: <class 'str'>; a batch takes GetOp, SearchOp"),
    ("namespace", GetOp("users", "a"), TypeError, "A namespace is a tuple of texts"),  # type: ignore[arg-type]
    ("query", SearchOp((), query="tea"), NotImplementedError, "no embeddings"),
    ("limit", ListNamespacesOp(limit=-1), ValueError, "not negative"),
    ("match", ListNamespacesOp((MatchCondition("middle", ()),)), ValueError, "Unknown match type: 'middle'"),
    ("ttl", PutOp((), "a", 1, ttl=-1), ValueError, "minutes above 0"),
]


@pytest.mark.parametrize(("op", "error", "why"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
async def test_where_one_cannot_be_nothing_is_done(store: ItemStore, op: Any, error: Any, why: str) -> None:
    """Each is looked at before the first is done."""
    with pytest.raises(error, match=why):
        await store.abatch([PutOp((), "before", 1), op])

    assert await store.asearch(()) == []


async def test_items_say_what_they_are_as_langgraphs_do(store: ItemStore) -> None:
    """In `dict()`, where what was found has a score, which is None; and by what they are compared."""
    await store.aput(ADA, "tea", {"cups": 1})
    got, [found] = await store.abatch([GetOp(ADA, "tea"), SearchOp(ADA)])
    theirs = [langgraph.Item, langgraph.SearchItem]
    members = {"namespace": ADA, "key": "tea", "value": {"cups": 1}}
    times = {"created_at": got.created_at, "updated_at": got.updated_at}

    shown = {"namespace": ["users", "ada"], "key": "tea", "value": {"cups": 1}, "created_at": NOW, "updated_at": NOW}
    assert got.dict() == shown
    assert found.dict() == {**shown, "score": None}
    assert [it.dict() for it in (got, found)] == [kind(**members, **times).dict() for kind in theirs]
    assert (type(got), type(found), found.score) == (Item, SearchItem, None)
    assert got == found
    assert {got, found} == {got}
    assert got != shown
