"""What the status tells of beside the other parts of a server."""

from collections.abc import Callable, Iterable
from dataclasses import field

from sidecall.core.decisions.listed import WaitingApprovals
from sidecall.core.decisions.places import Approvals
from sidecall.core.overload import StoreUnavailable
from sidecall.dataclasses import dataclass
from sidecall.history.modes import HistoryMode
from sidecall.ledger.base import Ledger
from sidecall.pipeline.admission import Admission
from sidecall.registry import Registry
from sidecall.telemetry.minutes import Minutes
from sidecall.upstream.upstream import Upstream


async def count_waiting(approvals: Approvals) -> WaitingApprovals | None:
    """Count the calls that wait for a person; None where the store cannot be used."""
    try:
        return await approvals.count_waiting()
    except StoreUnavailable:
        return None


@dataclass(frozen=True, slots=True)
class Operation:
    """What the status tells of beside the other parts of a server.

    `forgets` says why nothing is remembered beyond the server's end though nobody has asked for that.
    """

    minutes: Minutes
    admission: Admission
    ledger: Ledger
    history: HistoryMode = "off"
    workers: int = 1
    forgets: str | None = None
    upstream: Upstream = field(default_factory=lambda: Upstream({}, Registry()))
    count_spans_dropped: Callable[[], int | None] = lambda: None
    list_load_errors: Callable[[], Iterable[str]] = tuple
