"""What the feature openapi_import adds to a server."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING

from sidecall.feature import Feature
from sidecall.kernel.core.options import DocumentApproval
from sidecall.kernel.registry import Registry
from sidecall.lazy_imports import later

if TYPE_CHECKING:
    from sidecall.features.openapi_import.documents import OpenAPIDocuments

# What reads documents and makes tools of them, with the client of HTTP.
_open_documents: "Callable[..., OpenAPIDocuments]" = later("sidecall.features.openapi_import.documents:open_documents")


class NoDocuments:
    """The documents of a server that has none."""

    missing: Mapping[str, str] = MappingProxyType({})
    are_fetched = False

    @asynccontextmanager
    async def following(self, _registry: Registry, _on_loaded: Callable[[], object]) -> AsyncIterator[None]:
        """Do nothing."""
        yield


def open_documents(
    entries: tuple[str, ...], approval: DocumentApproval, services: str | None, registry: Registry
) -> "OpenAPIDocuments | NoDocuments":
    """Read the configured documents, and offer the tools of local ones.

    Raises:
        DefinitionError: A document cannot be read, or none of its operations can be a tool.
        InvalidServices: What names services does not.
    """
    if not entries and services is None:
        return NoDocuments()
    return _open_documents(entries, approval, services, registry)


FEATURE = Feature(
    name="openapi_import",
    settings_off={"openapi": (), "openapi_services": None},
)
