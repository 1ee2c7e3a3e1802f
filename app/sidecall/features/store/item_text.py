"""Stored items: their values as JSON, which no tool can change."""

import json
from datetime import UTC, datetime
from typing import Any

from sidecall.kernel.ports.store_items import Item, ItemTooLarge, Namespace

# Bytes of one item's value.
MOST_ITEM_BYTES = 1024 * 1024
MINUTE = 60.0


def write_value(value: Any, most: int) -> str:
    """Return a value as ASCII JSON, which every database can store.

    Raises:
        ItemTooLarge: It takes more than `most` bytes.
        TypeError: JSON cannot represent it.
        ValueError: JSON cannot represent it.
    """
    try:
        text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    except TypeError as error:
        raise TypeError(f"The store keeps what JSON can say: {error}.") from None
    except RecursionError:
        raise ValueError("The store keeps what JSON can say: the value is nested too deeply.") from None
    if len(text) > most:
        raise ItemTooLarge(len(text), most)
    return text


def read_item(namespace: Namespace, key: str, value: Any, created: float, updated: float) -> Item:
    """Return an item of a value that was read."""
    return Item(namespace, key, value, datetime.fromtimestamp(created, UTC), datetime.fromtimestamp(updated, UTC))
