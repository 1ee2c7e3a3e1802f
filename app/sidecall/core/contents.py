"""What was cut out of answers or sent by programs, kept whole for the caller whose it is."""

from dataclasses import dataclass
from typing import Protocol

from sidecall.core.context import Caller

TEXT = "text/plain; charset=utf-8"
JSON = "application/json"


@dataclass(frozen=True, slots=True)
class KeptContent:
    """One content as it was: the bytes of a media type. It never changes, so its id stands for its bytes."""

    id: str
    tenant: str
    caller: str
    media_type: str
    body: bytes


class Contents(Protocol):
    """Where whole contents are kept, each until it expires, and found by the caller whose it is."""

    @property
    def ttl(self) -> float:
        """Seconds that each is kept, where room does not run out."""

    @property
    def most(self) -> int:
        """Most bytes that there is room for."""

    async def keep(self, body: str | bytes, caller: Caller, media_type: str) -> str | None:
        """Keep a caller's body and return its id, which nobody can guess; None when it cannot be kept."""

    async def get(self, content_id: str, caller: Caller) -> KeptContent:
        """Find a caller's content.

        Raises:
            UnknownContent: There is none, it has expired, or it is another caller's.
        """

    async def remove(self, content_id: str, caller: Caller) -> None:
        """Forget a caller's content.

        Raises:
            UnknownContent: There is none, it has expired, or it is another caller's.
            StoreUnavailable: It could not be removed just now.
        """
