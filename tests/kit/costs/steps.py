"""Count the functions that some work enters: a measure of cost that is independent of the machine."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import TypeVar

T = TypeVar("T")


def count_steps(work: Callable[[], T]) -> tuple[int, T]:
    """Do something, and return how many functions it entered, those of C with them, and what it returned."""
    count = 0

    def note(_frame: FrameType, event: str, _arg: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        returned = work()
    finally:
        sys.setprofile(None)
    return count, returned
