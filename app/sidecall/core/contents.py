"""What was cut out of answers, kept whole for the calling program."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class KeptContent:
    """One content as it was before it was cut: a text in UTF-8, or the JSON of its blocks."""

    id: str
    tenant: str
    body: bytes


class Contents(Protocol):
    """Where whole contents are kept, each until it expires."""

    async def keep(self, body: str | bytes, tenant: str) -> str | None:
        """Keep a body and return its id, which nobody can guess; None when there is no room for it."""

    async def get(self, content_id: str) -> KeptContent:
        """Find a content.

        Raises:
            UnknownContent: There is none, or it has expired.
        """
