"""Make room among the approvals of a database: ended ones are trimmed, oldest first."""

from collections.abc import Awaitable, Callable

from sidecall.features.approvals.packing import PackedApproval, read_packed
from sidecall.features.approvals.shortened import shorten
from sidecall.kernel.ports.approvals.approval import ApprovalRecord
from sidecall.storage.database import Database

# Ended approvals that are listed at once.
_AT_ONCE = 100

# Replaces one record by another; False where the record has changed.
Change = Callable[[ApprovalRecord, ApprovalRecord], Awaitable[bool]]


class EndedApprovals:
    """Trim the texts of answered approvals to fit the bounds, then delete whole ones, oldest first.

    Those that a durable call waits for are kept.
    """

    def __init__(self, database: Database, most: int, most_bytes: int, beside: int, change: Change) -> None:
        """Take the bounds; `beside` is the size of a record besides its texts."""
        self._database = database
        self._most = most
        self._most_bytes = most_bytes
        self._beside = beside
        self._change = change

    async def forget_oldest(self) -> None:
        """Delete the oldest ones beyond the maximum number.

        Raises:
            StoreUnavailable: The database is unavailable.
        """
        [(ended, _)] = await self._database.read("measure_ended_approvals")
        await self._forget(0, ended - self._most)

    async def make_room(self, size: int) -> bool:
        """Make room for so many more bytes; if that is impossible, delete nothing and return False.

        Raises:
            StoreUnavailable: The database is unavailable.
        """
        [(_, taken)] = await self._database.read("count_approvals")
        [(_, held)] = await self._database.read("measure_ended_approvals")
        over = taken + size - self._most_bytes
        if not 0 < over <= held:
            return False
        await self._forget(await self._shorten(over), 0)
        return True

    async def _shorten(self, over: int) -> int:
        """Trim the oldest until so many bytes are free; return how many are still missing."""
        number = 0
        while over > 0 and (rows := await self._list(number, 2 * self._beside)):
            number = rows[-1][0]
            for _, approval_id, size in rows:
                if over > 0:
                    over -= await self._shorten_one(approval_id, size)
        return over

    async def _shorten_one(self, approval_id: str, size: int) -> int:
        """Trim one, or delete it if it stays large; return the bytes that this freed."""
        rows = await self._database.read("get_decided_approval", approval_id, 0.0)
        if not rows:
            return 0
        record = read_packed(rows[0][0])
        shortened = shorten(record)
        left = PackedApproval.of(shortened).size + self._beside
        if left > 2 * self._beside:
            return size if await self._database.write("forget_ended_approval", approval_id) is not None else 0
        return size - left if await self._change(record, shortened) else 0

    async def _forget(self, over: int, too_many: int) -> None:
        number = 0
        # Expired approvals only take places, no bytes.
        while (over > 0 or too_many > 0) and (rows := await self._list(number, 0 if over > 0 else -1)):
            number = rows[-1][0]
            for _, approval_id, size in rows:
                if over <= 0 and too_many <= 0:
                    break
                if await self._database.write("forget_ended_approval", approval_id) is not None:
                    over, too_many = over - size, too_many - 1

    async def _list(self, number: int, larger_than: int) -> list[tuple[int, str, int]]:
        """List number, id and size of the oldest after a number."""
        rows = await self._database.read("list_ended_approvals", number, larger_than, _AT_ONCE)
        return [(number, approval_id, size) for number, approval_id, size in rows]
