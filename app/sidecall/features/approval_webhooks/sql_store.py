"""Messages about approvals in the database of the ledger; triggers of its tables note them."""

from collections.abc import Sequence

from sidecall.features.approval_webhooks.messages import ApprovalMessage
from sidecall.storage.database import Database

# Seconds for which a receiver counts after a server has last said that it is told.
KNOWN_FOR = 7 * 86_400.0


class SqlApprovalMessages:
    """Find what is due to these receivers, and hand out each message to one server."""

    def __init__(self, database: Database, receivers: Sequence[str]) -> None:
        self._database = database
        self._receivers = receivers

    async def keep_receivers(self, notice: float, most: int, now: float) -> bool:
        """Say that these receivers are told, so that messages for them are noted from now on.

        Args:
            notice: Seconds before its expiry at which a pending approval is told of again.
            most: The maximum number of messages that wait for one receiver.
            now: In seconds since 1970.

        Returns:
            Whether there is room for more messages to each of them.

        Raises:
            StoreUnavailable: The database cannot be used just now.
        """
        has_room = True
        for receiver in self._receivers:
            await self._database.write("tell_approval_receiver", receiver, notice, most, now + KNOWN_FOR)
            [(waiting,)] = await self._database.read("count_approval_messages", receiver)
            has_room = has_room and waiting < most
        return has_room

    async def list_due(self, now: float, most: int, most_of_host: int) -> Sequence[ApprovalMessage]:
        """List due messages: for each receiver those that wait for their first try, then the others.

        Args:
            now: In seconds since 1970.
            most: The maximum number.
            most_of_host: The maximum number for one receiver.
        """
        due: list[ApprovalMessage] = []
        for receiver in self._receivers:
            rows = await self._database.read("list_due_approval_messages", receiver, now, most_of_host)
            due += [ApprovalMessage(*row) for row in rows]
        return due[:most]

    async def claim(self, due: ApprovalMessage, until: float) -> ApprovalMessage | None:
        """Claim a message until it is due again; None if another server was faster."""
        row = await self._database.write("claim_approval_message", due.number, until, due.at)
        if row is None:
            return None
        _, event, status, listed, happened_at = row
        place = (due.number, due.approval_id, due.url, until, due.tries + 1)
        return ApprovalMessage(*place, event, status, listed, happened_at)

    async def settle(self, claimed: ApprovalMessage, again_at: float | None) -> None:
        """Set the time of the next attempt; None removes it."""
        if again_at is None:
            await self._database.write("forget_approval_message", claimed.number, claimed.at)
        else:
            await self._database.write("repeat_approval_message", claimed.number, again_at, claimed.at)
