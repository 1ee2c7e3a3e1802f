"""Give LangChain tools a store of the class that they ask for, without importing it."""

import typing
from typing import Any

from sidecall.kernel.core.injection import InjectedStore
from sidecall.kernel.ports.store import Store
from sidecall.kernel.schema.foreign import is_store_type


class TypedStore:
    """A store that passes for LangGraph's, since LangChain checks the class of what a tool gets."""

    def __init__(self, store: Store, kind: type) -> None:
        """Wrap the store for the requested class."""
        self._store = store
        self._kind = kind

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return self._kind

    def __reduce__(self) -> Any:
        return TypedStore, (self._store, self._kind)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._store, name)


class InjectedTypedStore(InjectedStore):
    """Hide a parameter and fill it with the store, as an instance of this class."""

    def __init__(self, kind: type) -> None:
        """Set the class of the store."""
        self._kind = kind

    def adapt(self, store: Store) -> Any:
        """Return the store as an instance of the class; a program's own store may be one already."""
        return store if isinstance(store, self._kind) else TypedStore(store, self._kind)


def type_store(marker: InjectedStore, annotation: Any) -> InjectedStore:
    """Set the store class of a marker, if the annotation names LangGraph's."""
    kind = _find_store_type(annotation)
    return marker if kind is None else InjectedTypedStore(kind)


def _find_store_type(annotation: Any) -> type | None:
    if is_store_type(annotation):
        return typing.cast("type", annotation)
    found = (_find_store_type(part) for part in typing.get_args(annotation))
    return next((kind for kind in found if kind is not None), None)
