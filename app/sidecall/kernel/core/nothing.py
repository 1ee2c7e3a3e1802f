"""A shared empty mapping."""

from collections.abc import Iterator, Mapping
from typing import Any


class _Nothing(Mapping[str, Any]):
    """An immutable empty mapping; unlike Python's own it can be a default of dataclasses."""

    __slots__ = ()

    def __getitem__(self, key: str) -> Any:
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0

    __hash__ = object.__hash__


NOTHING: Mapping[str, Any] = _Nothing()
