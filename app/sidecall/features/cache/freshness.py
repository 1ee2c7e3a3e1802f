"""How old an answer a client takes, as it says in `Cache-Control` (RFC 9111)."""

from collections.abc import Mapping
from dataclasses import dataclass

_NAME = "cache-control"
# More digits than any age has.
_DIGITS = 9


@dataclass(frozen=True, slots=True)
class Freshness:
    """What a client takes: `max_age` is in seconds, None where it does not matter to it, 0 where the tool has to run.

    `may_keep` False means that its answer is neither taken from what is kept nor kept.
    """

    may_keep: bool = True
    max_age: int | None = None

    @property
    def wants_run(self) -> bool:
        """Whether the tool has to run for this call."""
        return self.max_age == 0


ANY = Freshness()


def read_freshness(headers: Mapping[str, str]) -> Freshness:
    """Read the header of a request; what it says besides `no-store`, `no-cache` and `max-age` is not heeded."""
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
