"""Cache policy of a tool."""

from dataclasses import dataclass

from sidecall.kernel.core.errors import InvalidToolOption

# A day; what may be older than that is no cache any more.
LONGEST = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Cache:
    """Cache the answers of a read-only tool, for calls with the same arguments.

    Attributes:
        ttl: Seconds for which an answer is given again, up to a day.
        per_caller: Whether each caller has answers of its own; else all callers of a tenant share them.
    """

    ttl: float
    per_caller: bool = True

    def __post_init__(self) -> None:
        # NaN is neither smaller nor larger than anything.
        if isinstance(self.ttl, bool) or not isinstance(self.ttl, int | float) or not 0 < self.ttl <= LONGEST:
            raise InvalidToolOption(f"the `ttl` of a Cache is seconds, more than 0 and up to {LONGEST:g}")
        if not isinstance(self.per_caller, bool):
            raise InvalidToolOption("`per_caller` of a Cache is True or False")
