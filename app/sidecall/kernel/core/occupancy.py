"""The load of an executor."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Occupancy:
    """The load of an executor at one moment.

    Attributes:
        size: How many calls it can run at once; None when it has no bound.
        busy: How many it runs, the abandoned ones included.
        waiting: How many wait for their turn.
        killed: How many processes it has killed so far, at a deadline or because the client was gone.
    """

    size: int | None = None
    busy: int = 0
    waiting: int = 0
    killed: int = 0
