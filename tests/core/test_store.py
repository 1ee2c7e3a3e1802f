"""The store's protocol is what tools annotate with."""

from sidecall.core.store import ItemStore, Store
from sidecall.ledger.items import MemoryItems


def test_the_memory_store_is_a_store() -> None:
    """The protocol can be checked when a store is handed over."""
    assert isinstance(ItemStore(MemoryItems()), Store)


def test_anything_else_is_not() -> None:
    """A dictionary has `get`, and that is not enough."""
    assert not isinstance({}, Store)
