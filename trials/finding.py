"""What a trial found."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """What was done, what had to come out, and what did.

    `holds` is what must be true on every machine, `in_time` what only one with nothing else to do can show: bars of
    time and memory. The short form asks for the first only.
    """

    row: str
    trial: str
    bar: str
    measured: str
    holds: bool
    in_time: bool = True

    @property
    def is_met(self) -> bool:
        """Whether the whole bar is met."""
        return self.holds and self.in_time
