"""Notices between servers that share a ledger: that something has changed, but not what."""

from typing import Literal, Protocol

# A call has changed; a cancellation is requested; a call is queued; a tool has sent progress.
NoticeKind = Literal["changed", "cancel", "queued", "progress"]


class NoticeListener(Protocol):
    """Looks for changes after a notice; the notice itself contains none."""

    def hear(self, kind: NoticeKind, call_id: str) -> None:
        """Look at a call, or without an id at all queued ones."""

    def miss(self) -> None:
        """Look at everything once: notices may have been lost."""


class Notices(Protocol):
    """A channel to the other servers of a ledger; it may lose notices, so servers also poll, more slowly."""

    def attach(self, listener: NoticeListener) -> None:
        """Give what others send to a listener."""

    def tell(self, kind: NoticeKind, call_id: str = "") -> None:
        """Send a notice soon, together with others; never blocks and never fails."""

    async def open(self) -> None:
        """Start sending and receiving as soon as possible."""

    async def close(self) -> None:
        """Send and receive nothing more."""


class NoNotices:
    """The notices of a ledger that only one server uses, or that cannot deliver any."""

    def attach(self, listener: NoticeListener) -> None:
        """Give a listener nothing."""

    def tell(self, kind: NoticeKind, call_id: str = "") -> None:
        """Send nothing."""

    async def open(self) -> None:
        """Do nothing."""

    async def close(self) -> None:
        """Do nothing."""
