"""The null history, used when history is off."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from sidecall.features.jobs.call_record import CallRecord
from sidecall.features.jobs.errors import HistoryOff, UnknownCall
from sidecall.kernel.ports.call_entry import CallEntry, CallFilter, CallPage
from sidecall.kernel.ports.observer import CallNotes

if TYPE_CHECKING:
    from sidecall.features.history import conversations as _conversations
    from sidecall.features.history import rollups as _sums


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

    async def list_conversations(self, _search: "_conversations.ConversationSearch") -> NoReturn:
        """Refuse.

        Raises:
            HistoryOff: Always.
        """
        raise HistoryOff

    async def find_conversation(self, _key: "_conversations.ConversationKey") -> None:
        """Find none."""

    async def summarize(self, _by: "Sequence[_sums.SummaryPart]", _wanted: CallFilter) -> "_sums.CallSummary":
        """Refuse.

        Raises:
            HistoryOff: Always.
        """
        raise HistoryOff
