"""Search of passages in uploaded files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from msgspec import Struct


@dataclass(frozen=True, slots=True)
class FilePassage:
    """A passage of a file; `score` is between 0 and 1, and no probability."""

    file_id: str
    filename: str
    score: float
    text: str
    attributes: Mapping[str, str | float | bool]
    store: str = ""


class Passages(Protocol):
    """The passages of all tenants."""

    async def search(
        self, tenant: str, queries: Sequence[str], limit: int, filters: Any = None, stores: Sequence[str] = ()
    ) -> Sequence[FilePassage]:
        """Search a tenant's passages for the words of any of these queries, best first; with stores, only in those.

        Raises:
            ToolException: The filters are none.
        """


class OwnPassages(Struct, frozen=True):
    """The passages of the tool's caller."""

    passages: Passages
    tenant: str

    async def search(
        self, queries: Sequence[str], limit: int = 10, filters: Any = None, stores: Sequence[str] = ()
    ) -> Sequence[FilePassage]:
        """Search the caller's vector stores, best first.

        Args:
            queries: Texts; passages with any of their words are found.
            limit: Most passages.
            filters: Which files to look in, by their attributes, in OpenAI's form.
            stores: Only these vector stores; all when empty.

        Raises:
            ToolException: The filters are none.
        """
        return await self.passages.search(self.tenant, queries, limit, filters, stores)
