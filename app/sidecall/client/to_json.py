"""Convert objects of provider SDKs to JSON."""

import dataclasses
import json
from collections.abc import Mapping
from typing import Any


def make_plain(value: Any) -> Any:
    """Return a dict for an SDK's object, as the SDK would send it; other values unchanged."""
    if callable(dump := getattr(value, "model_dump", None)):
        return dump(mode="json", exclude_unset=True, by_alias=True)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    return value


def write_body(value: Any) -> bytes:
    """Serialize a request; objects of SDKs may be anywhere in it.

    Raises:
        TypeError: Something in it is no such object, and JSON cannot say it.
    """
    return json.dumps(value, default=_write_object, ensure_ascii=False, allow_nan=False).encode()


def _write_object(value: Any) -> Any:
    plain = make_plain(value)
    if isinstance(plain, Mapping):
        return dict(plain)
    if plain is value:
        raise TypeError(f"{type(value).__name__} cannot be sent as JSON: {value!r:.200}")
    return plain
