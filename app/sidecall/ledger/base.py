"""What one server remembers, wherever it is kept."""

from dataclasses import dataclass

from sidecall.core.approval import Approvals
from sidecall.core.contents import Contents
from sidecall.core.store import Items


@dataclass(frozen=True, slots=True)
class Ledger:
    """The parts of a ledger, each behind a protocol of `sidecall.core`; another kind of ledger brings its own."""

    approvals: Approvals
    contents: Contents
    items: Items
