"""What a trial found."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """Say what was done, what had to hold, and what came out."""

    row: str
    trial: str
    bar: str
    measured: str
    holds: bool
