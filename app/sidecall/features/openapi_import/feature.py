"""What the feature openapi_import adds to a server."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from types import MappingProxyType

from sidecall.feature import Feature
from sidecall.kernel.registry import Registry


class NoDocuments:
    """The documents of a server that has none."""

    missing: Mapping[str, str] = MappingProxyType({})
    are_fetched = False

    @asynccontextmanager
    async def following(self, _registry: Registry, _on_loaded: Callable[[], object]) -> AsyncIterator[None]:
        """Do nothing."""
        yield


FEATURE = Feature(
    name="openapi_import",
    settings_off={"openapi": (), "openapi_services": None},
    part="sidecall.features.openapi_import.documents:make_documents",
)
