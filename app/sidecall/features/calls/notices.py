"""Notices between servers that share a ledger: that something has changed, but not what."""

from typing import Literal, Protocol

# A call has changed; a cancellation is requested; a call is queued; a tool has sent progress.
NoticeKind = Literal["changed", "cancel", "queued", "progress"]


class NoticeListener(Protocol):
    """Looks where something is new; a notice says nothing that could be acted upon without a look."""

    def hear(self, kind: NoticeKind, call_id: str) -> None:
        """Look at a call; at all that are queued, where it has no id."""

    def miss(self) -> None:
        """Look everywhere once: notices may have been lost."""


class Notices(Protocol):
    """A way to the other servers of a ledger; it may lose notices, so all look by themselves, too, but later."""

    def attach(self, listener: NoticeListener) -> None:
        """Give what others send to a listener."""

    def tell(self, kind: NoticeKind, call_id: str = "") -> None:
        """Send a notice to the others soon, together with what else is to be sent; never waits, and never fails."""

    async def open(self) -> None:
        """Begin to send and to receive, as soon as that is possible."""

    async def close(self) -> None:
        """Send and receive nothing more."""


class NoNotices:
    """The notices of a ledger that only one server uses, or that cannot deliver any."""

    def attach(self, listener: NoticeListener) -> None:
        """Give a listener nothing."""

    def tell(self, kind: NoticeKind, call_id: str = "") -> None:
        """Send nothing."""

    async def open(self) -> None:
        """Begin nothing."""

    async def close(self) -> None:
        """End nothing."""
