"""How old an answer a client accepts, by its `Cache-Control` (RFC 9111)."""

from collections.abc import Mapping
from dataclasses import dataclass

_NAME = "cache-control"
# More digits than any age has.
_DIGITS = 9


@dataclass(frozen=True, slots=True)
class Freshness:
    """The ages that a client accepts: `max_age` in seconds, None for any, 0 if the tool has to run.

    With `may_keep` False the answer is neither read from the cache nor stored.
    """

    may_keep: bool = True
    max_age: int | None = None

    @property
    def wants_run(self) -> bool:
        """Whether the tool has to run for this call."""
        return self.max_age == 0


ANY = Freshness()


def read_freshness(headers: Mapping[str, str]) -> Freshness:
    """Read the header of a request; directives other than `no-store`, `no-cache` and `max-age` are ignored."""
    if _NAME not in headers:
        return ANY
    # A header may come more than once.
    text = ",".join(value for name, value in headers.items() if name.lower() == _NAME)
    said = [part.strip().lower() for part in text.split(",")]
    ages = [0] if "no-cache" in said else []
    for part in said:
        name, _, value = part.partition("=")
        value = value.strip('"')
        if name == "max-age" and value.isascii() and value.isdecimal() and len(value) <= _DIGITS:
            ages.append(int(value))
    return Freshness("no-store" not in said, min(ages, default=None))
