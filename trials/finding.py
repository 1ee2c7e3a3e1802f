"""The findings of a trial."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """What was done, what was expected, and what came out.

    `holds` must be true on every machine; `in_time` only on an idle one: bounds of time and memory. The short form
    checks the first only.
    """

    row: str
    trial: str
    bar: str
    measured: str
    holds: bool
    in_time: bool = True

    @property
    def is_met(self) -> bool:
        """Whether all expectations are met."""
        return self.holds and self.in_time
