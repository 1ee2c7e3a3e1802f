"""Which form of an answer a client prefers, by its header `Accept` (RFC 9110 §12.5.1)."""

import re
from collections.abc import Mapping
from functools import lru_cache

JSON = "application/json"
EVENTS = "text/event-stream"
# In which commas and semicolons are texts. One that does not end goes to the end, so that nothing is tried twice.
_QUOTED = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?')
_WEIGHT = re.compile(r";\s*q\s*=\s*(1|0?\.[0-9]+|[01]\.[0-9]*|0)\s*(?=;|$)")


def wants_events(accept: str) -> bool:
    """Return whether a client wants its answer as events: it names them, and prefers no JSON.

    Where it likes both as much, it gets events: whoever can read nothing else names no events.
    """
    weight = _read(accept).get(EVENTS, 0.0)
    return weight > 0 and weight >= weigh(accept, JSON)


def names_events(accept: str) -> bool:
    """Return whether a client says that it reads events, however much it likes them."""
    return _read(accept).get(EVENTS, 0.0) > 0


def weigh(accept: str, media_type: str) -> float:
    """Return how much a client likes a media type, from 0 for not at all to 1; without the header it likes all."""
    ranges = _read(accept)
    kind = media_type.partition("/")[0]
    return next((ranges[it] for it in (media_type, f"{kind}/*", "*/*") if it in ranges), 0.0 if ranges else 1.0)


@lru_cache(maxsize=64)
def _read(accept: str) -> Mapping[str, float]:
    """Read the media ranges with their weights, whatever other parameters they have."""
    ranges: dict[str, float] = {}
    for part in _QUOTED.sub("", accept.lower()).split(","):
        name, sign, parameters = part.partition(";")
        found = _WEIGHT.search(sign + parameters)
        if name := name.strip():
            ranges[name] = max(ranges.get(name, 0.0), min(1.0, 1.0 if found is None else float(found[1])))
    return ranges
