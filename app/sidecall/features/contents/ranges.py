"""Read which bytes of an answer a client wants: `Range` and `If-Range` (RFC 9110)."""

import re
from collections.abc import Mapping

from sidecall.kernel.core.errors import RequestError

# More digits than any size needs; int() would refuse longer ones.
_RANGE = re.compile(r"bytes[ \t]*=[ \t]*([0-9]{0,18})-([0-9]{0,18})[ \t]*", re.IGNORECASE)


class RangeUnsatisfiable(RequestError):
    """There are no such bytes."""

    problem = (416, "range-not-satisfiable")

    def __init__(self, size: int) -> None:
        super().__init__(f"There are {size} bytes, and none of them is in the `Range` that was asked for.")
        self.headers = {"Content-Range": f"bytes */{size}"}


def find_range(headers: Mapping[str, str], size: int, etag: str) -> slice | None:
    """Return the requested bytes; None for all, also for several ranges or an invalid one.

    Raises:
        RangeUnsatisfiable: There are none of those bytes.
    """
    wanted = _RANGE.fullmatch(headers.get("range", ""))
    if wanted is None or headers.get("if-range", etag).strip() != etag:
        return None
    first, last = wanted.groups()
    if not first:
        return _find_tail(last, size)
    start, stop = int(first), int(last) + 1 if last else size
    if last and stop <= start:
        return None
    if start >= size:
        raise RangeUnsatisfiable(size)
    return slice(start, min(stop, size))


def _find_tail(length: str, size: int) -> slice | None:
    if not length:
        return None
    if int(length) == 0 or size == 0:
        raise RangeUnsatisfiable(size)
    return slice(max(0, size - int(length)), size)
