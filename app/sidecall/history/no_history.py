"""What a server has that keeps no history."""

from typing import TYPE_CHECKING

from sidecall.core.calls.entry import CallEntry, CallFilter, CallPage
from sidecall.core.calls.errors import HistoryOff, UnknownCall
from sidecall.core.record import CallRecord
from sidecall.telemetry.calls import CallNotes

if TYPE_CHECKING:
    from sidecall.history import sums as _sums


class NoHistory:
    """Keep nothing."""

    notes: CallNotes | None = None
    dropped = 0
    database = None

    async def open(self) -> None:
        """Do nothing."""

    async def close(self) -> None:
        """Do nothing."""

    async def list(self, _wanted: CallFilter, _limit: int, _cursor: str | None) -> CallPage:
        """Find none."""
        return CallPage([])

    async def get(self, _call_id: str, _tenant: str) -> CallEntry:
        """Find none.

        Raises:
            UnknownCall: Always.
        """
        raise UnknownCall

    async def get_sent(self, _call_id: str, _tenant: str) -> CallRecord:
        """Find none.

        Raises:
            UnknownCall: Always.
        """
        raise UnknownCall

    async def summarize(
        self, _tenant: str, _by: "_sums.SummaryPart", _since: float | None, _until: float | None
    ) -> "_sums.CallSummary":
        """Refuse.

        Raises:
            HistoryOff: Always.
        """
        raise HistoryOff
