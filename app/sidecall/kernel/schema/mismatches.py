"""List what does not fit a JSON Schema, of large values in steps and only as far as it is told.

The validator lists all errors of a value at once, with those of each member of each union, while all other threads
wait: 16,000 objects that fit none of 30 forms take it nine seconds. Whether a value fits it knows within milliseconds.
So it gets the beginning of a value here, and more of it until there are enough errors.
"""

from collections.abc import Collection
from typing import Any, NamedTuple

from sidecall.kernel.concurrency.garbage_collector import pause_collector
from sidecall.kernel.core.field_errors import MOST_FIELDS
from sidecall.kernel.schema.parts import Whole

# How many errors are made at once, with those of members of unions, as far as that can be known beforehand.
_MOST_AT_ONCE = 2_000
# How many values are looked at in one step, and in how many steps a value is gone through at most.
_SMALLEST, _LARGEST = 64, 256
_MOST_STEPS = 400
# This keyword has an error for each name, and each repeats the whole object.
_OF_NAME = "propertyNames"


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
    found: dict[Any, Any] = {}
    while True:
        is_last = end >= whole.size
        if is_last or not begin or not validator.is_valid(whole.cut(begin, end).value):
            # What concerns a list or object as a whole is said at last.
            is_whole = is_last and not any(it.kind.name == _OF_NAME for it in found.values())
            part = whole.cut(0 if is_whole else begin, end, keeps_indexes=True)
            with pause_collector():
                listed = list(validator.iter_errors(part.value))
            is_much = sum(map(_weigh, listed)) > _MOST_AT_ONCE
            found |= {_name(it): it for it in listed if it.kind.name == _OF_NAME or not part.is_cut(it.instance_path)}
            if is_last or is_much or len(found) > MOST_FIELDS:
                break
        begin, end = end, end + _choose_step(found.values(), whole.size)
    # What is said of something that was cut may not hold of the whole, but the whole does not fit.
    return Mismatches((list(found.values()) or listed)[: MOST_FIELDS + 1], is_last and not is_much)


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


def _choose_step(found: Collection[Any], size: int) -> int:
    weight = max(map(_weigh, found), default=1)
    return max(_SMALLEST, min(_LARGEST, _MOST_AT_ONCE // weight), size // _MOST_STEPS)


def _name(error: Any) -> tuple[Any, ...]:
    """Name an error, so that it is told once: the beginning of a list is looked at again with each part of it."""
    about = error.kind.error.instance if error.kind.name == _OF_NAME else getattr(error.kind, "property", None)
    return tuple(error.instance_path), tuple(error.schema_path), str(about)


def _weigh(error: Any) -> int:
    """Count an error, those of members of unions, and the names that it lists."""
    names = len(getattr(error.kind, "unexpected", ()))
    return 1 + names + sum(len(faults) for faults in getattr(error.kind, "context", ()))
