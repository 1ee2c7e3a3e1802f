"""Choose the form of an answer by the `Accept` header (RFC 9110 §12.5.1)."""

import re
from collections.abc import Mapping
from functools import lru_cache

JSON = "application/json"
EVENTS = "text/event-stream"
# In which commas and semicolons are texts. One that does not end goes to the end, so that nothing is tried twice.
_QUOTED = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?')
_WEIGHT = re.compile(r";\s*q\s*=\s*(1|0?\.[0-9]+|[01]\.[0-9]*|0)\s*(?=;|$)")


def wants_events(accept: str) -> bool:
    """Return whether a client wants events: it names them and does not prefer JSON.

    Where both have the same weight it gets events: a client that cannot read events would not name them.
    """
    weight = _read(accept).get(EVENTS, 0.0)
    return weight > 0 and weight >= weigh(accept, JSON)


def names_events(accept: str) -> bool:
    """Return whether a client names events, with any weight."""
    return _read(accept).get(EVENTS, 0.0) > 0


def weigh(accept: str, media_type: str) -> float:
    """Return the weight of a media type for a client, 0 to 1; without the header it is 1."""
    ranges = _read(accept)
    kind = media_type.partition("/")[0]
    return next((ranges[it] for it in (media_type, f"{kind}/*", "*/*") if it in ranges), 0.0 if ranges else 1.0)


@lru_cache(maxsize=64)
def _read(accept: str) -> Mapping[str, float]:
    """Parse the media ranges and their weights; other parameters are ignored."""
    ranges: dict[str, float] = {}
    for part in _QUOTED.sub("", accept.lower()).split(","):
        name, sign, parameters = part.partition(";")
        found = _WEIGHT.search(sign + parameters)
        if name := name.strip():
            ranges[name] = max(ranges.get(name, 0.0), min(1.0, 1.0 if found is None else float(found[1])))
    return ranges
