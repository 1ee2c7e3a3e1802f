"""What a caller has left to spend."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Quota:
    """How many of `most` calls in `seconds` a caller has `left`; in `more_in` seconds it has one more."""

    most: int
    seconds: int
    left: int
    more_in: int
