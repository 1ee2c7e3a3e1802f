"""Parse JSON that another server has sent, which may be large, without holding up others."""

from collections.abc import Callable
from typing import TypeVar

from sidecall.kernel.concurrency.pools import RESULTS
from sidecall.kernel.json_data.text import LARGE, MOST_AT_ONCE, holds_more

T = TypeVar("T")


class TooManyValues(ValueError):
    """JSON has more values than may be parsed."""


async def parse_foreign(text: bytes, parse: Callable[[bytes], T]) -> T:
    """Parse JSON that another server has sent: by `parse`, in a thread where it is large.

    Raises:
        TooManyValues: It has more than MOST_AT_ONCE.
        ValueError: It is no JSON, as `parse` says.
    """
    return parse(text) if len(text) <= LARGE else await RESULTS.run(_parse_large, text, parse)


def _parse_large(text: bytes, parse: Callable[[bytes], T]) -> T:
    if holds_more(text, MOST_AT_ONCE):
        raise TooManyValues(f"more than {MOST_AT_ONCE:,} values")
    return parse(text)
