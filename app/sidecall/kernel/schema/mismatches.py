"""List what does not fit a JSON Schema, of large values in steps and only as far as it is told.

The validator lists all errors of a value at once, with those of each member of each union, while all other threads
wait: 16,000 objects that fit none of 30 forms take it nine seconds. Whether a value fits it knows within milliseconds.
So it gets the beginning of a value here, and more of it until there are enough errors.
"""

from typing import Any, NamedTuple

from sidecall.kernel.concurrency.garbage_collector import pause_collector
from sidecall.kernel.core.field_errors import MOST_FIELDS
from sidecall.kernel.schema.parts import Part, Whole

# How many errors are made at once, with those of members of unions, as far as that can be known beforehand.
_MOST_AT_ONCE = 2_000
# In how many steps a value is gone through at most, and how small one is at least.
_MOST_STEPS = 200
_SMALLEST = 64


class Mismatches(NamedTuple):
    """Errors of a value, and whether these are all."""

    errors: list[Any]
    is_whole: bool


def list_mismatches(validator: Any, given: Any) -> Mismatches:
    """List the errors of a value, `MOST_FIELDS` and one more at most.

    Raises:
        ValueError: It has what JSON has not.
    """
    if validator.is_valid(given):
        return Mismatches([], is_whole=True)
    whole = Whole(given)
    begin, end = 0, _find_first(validator, whole)
    found: list[Any] = []
    while True:
        if end >= whole.size or not begin or not validator.is_valid(whole.cut(begin, end).value):
            part = whole.cut(0, end)
            with pause_collector():
                listed = list(validator.iter_errors(part.value))
            found, is_much = _choose(listed, part)
            if is_much or len(found) > MOST_FIELDS or end >= whole.size:
                break
        begin, end = end, end + _choose_step(found, whole.size)
    return Mismatches(found[: MOST_FIELDS + 1], end >= whole.size and not is_much)


def _find_first(validator: Any, whole: Whole) -> int:
    """Return how much of a value has to be looked at, since what is before that fits."""
    begin, end = 0, whole.size
    while end - begin > _SMALLEST:
        middle = (begin + end) // 2
        if validator.is_valid(whole.cut(0, middle).value):
            begin = middle
        else:
            end = middle
    return end


def _choose(listed: list[Any], part: Part) -> tuple[list[Any], bool]:
    """Choose the errors of a part that are errors of the whole; say whether there are too many to look for more.

    What is said of something that was cut may not hold of the whole. Where nothing else is known it is told all the
    same: the whole does not fit.
    """
    is_much = sum(map(_weigh, listed)) > _MOST_AT_ONCE
    sure = [it for it in listed if not part.is_cut(it.instance_path)]
    return (sure or listed if is_much else sure), is_much


def _choose_step(found: list[Any], size: int) -> int:
    weight = max(map(_weigh, found), default=1)
    return max(_SMALLEST, _MOST_AT_ONCE // weight, size // _MOST_STEPS)


def _weigh(error: Any) -> int:
    """Count an error, those of members of unions, and the names that it lists."""
    names = len(getattr(error.kind, "unexpected", ()))
    return 1 + names + sum(len(faults) for faults in getattr(error.kind, "context", ()))
