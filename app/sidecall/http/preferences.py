"""The headers that say how to run and answer a call: `Prefer`, `Idempotency-Key`, `Accept`."""

import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Any

from msgspec import Struct
from starlette.datastructures import Headers

from sidecall.kernel.core.errors import RequestError

# The draft has a quoted string; most clients send it bare.
_QUOTED, _BARE = r'(?:[ !#-\[\]-~]|\\["\\]){1,255}', r"[!#-~][ -~]{0,254}"
_KEY = re.compile(f'"({_QUOTED})"|({_BARE})')
# What stands between commas that are in no quoted string.
# One that does not end goes to the end, so that nothing is tried twice.
_PART = re.compile(r'(?:[^,"]|"[^"\\]*+(?:\\.[^"\\]*+)*+"?)++')
_WAIT = re.compile(r"[0-9]+")
REPLAYED: dict[str, dict[str, Any]] = {
    "Idempotency-Replayed": {
        "description": "`true` where this is the answer to an earlier call with the same `Idempotency-Key`.",
        "schema": {"type": "string"},
    },
}
DOCUMENTED: dict[str, dict[str, Any]] = {
    "Preference-Applied": {
        "description": "What of `Prefer` was heeded.",
        "schema": {"type": "string"},
    },
    **REPLAYED,
}


PINS: dict[str, Any] = {
    "name": "If-Match",
    "in": "header",
    "description": "The `hash` of the tool that you know, in double quotes; where it has another by now, nothing runs.",
    "schema": {"type": "string"},
    "example": "*",
}


class InvalidPreference(RequestError):
    """What `Prefer` or `Idempotency-Key` asks for cannot be had, or not for this request."""

    problem = (400, "invalid-preference")


class InvalidKey(RequestError):
    """The header `Idempotency-Key` is 1 to 255 printable ASCII characters, in double quotes or bare."""

    problem = (400, "invalid-key")


class Preferences(Struct, frozen=True):
    """The preferences of a client; `wait` is in seconds.

    `is_async` says that it wants the address of the answer instead of waiting for it.
    """

    is_async: bool = False
    wait: float | None = None
    key: str | None = None

    @property
    def is_plain(self) -> bool:
        """Whether no preference was sent."""
        return not self.is_async and self.wait is None and self.key is None

    @property
    def applied(self) -> dict[str, str]:
        """The header that lists the preferences that were applied."""
        if not self.is_async and self.wait is None:
            return {}
        return {"Preference-Applied": _write_applied(self.is_async, self.wait)}


@lru_cache(maxsize=64)
def _write_applied(is_async: bool, wait: float | None) -> str:
    said = ["respond-async"] if is_async else []
    return ", ".join(said if wait is None else [*said, f"wait={wait:g}"])


PLAIN = Preferences()


def read_preferences(headers: Headers, longest: float) -> Preferences:
    """Read the headers; waits are capped at `longest` seconds.

    Raises:
        InvalidPreference: `wait` is no number of seconds.
        InvalidKey: The key is none.
    """
    prefer, keys = headers.getlist("prefer"), headers.getlist("idempotency-key")
    if len(keys) > 1:
        raise InvalidKey(f"`Idempotency-Key` came {len(keys)} times; send it once.")
    return make_preferences(",".join(prefer), keys[0] if keys else None, longest)


def make_preferences(prefer: str, key: str | None, longest: float) -> Preferences:
    """Parse the values of the headers, each sent at most once; waits are capped at `longest` seconds.

    Raises:
        InvalidPreference: `wait` is no number of seconds.
        InvalidKey: The key is none.
    """
    found = PLAIN if prefer == "" else _read_prefer(prefer, longest)
    if key is not None:
        found = Preferences(found.is_async, found.wait, _read_key(key))
    return PLAIN if found.is_plain else found


@lru_cache(maxsize=64)
def _read_prefer(text: str, longest: float) -> Preferences:
    """Parse preferences by name, without their parameters; of a repeated one the first counts."""
    said: dict[str, str] = {}
    for part in _PART.findall(text):
        name, _, value = part.split(";")[0].partition("=")
        said.setdefault(name.strip().lower(), value.strip().strip('"'))
    wait = said.get("wait")
    if wait is not None and not _WAIT.fullmatch(wait):
        raise InvalidPreference("`Prefer: wait=` takes a whole number of seconds, such as `Prefer: wait=10`.")
    return Preferences("respond-async" in said, None if wait is None else min(float(wait), longest))


def _read_key(text: str) -> str:
    found = _KEY.fullmatch(text.strip())
    if found is None:
        raise InvalidKey
    quoted, bare = found.groups()
    return bare if quoted is None else re.sub(r"\\(.)", r"\1", quoted)


def refuse_for_events(preferences: Preferences) -> None:
    """Refuse preferences that cannot be combined with an event stream.

    Raises:
        InvalidPreference: There is something.
    """
    if not preferences.is_plain:
        raise InvalidPreference(
            f"{_name_sent(preferences, 'does', 'do')} not go with `Accept: text/event-stream`. Send the call without "
            "that, with `Prefer: respond-async`, and ask for it at GET /tool_calls/{id}."
        )


def refuse_for_batch(preferences: Preferences) -> None:
    """Refuse preferences for a single call on a batch.

    Raises:
        InvalidPreference: There is something.
    """
    if not preferences.is_plain:
        sent = _name_sent(preferences, "is", "are")
        raise InvalidPreference(f"{sent} for one call: send the calls of a batch one by one.")


def _name_sent(preferences: Preferences, one: str, both: str) -> str:
    """Name the headers that were sent, with the verb in singular or plural."""
    if preferences.key is None:
        return f"`Prefer` {one}"
    is_alone = preferences.wait is None and not preferences.is_async
    return f"`Idempotency-Key` {one}" if is_alone else f"`Prefer` and `Idempotency-Key` {both}"


PREFER: dict[str, Any] = {
    "name": "Prefer",
    "in": "header",
    "description": "`respond-async` to be answered at once, `wait=10` to be answered after ten seconds at the latest.",
    "schema": {"type": "string"},
    "example": "wait=10",
}
PARAMETERS: list[dict[str, Any]] = [
    PREFER,
    {
        "name": "Idempotency-Key",
        "in": "header",
        "description": "1 to 255 characters of your own, such as `order-4711-refund`: the call runs once, however "
        "often it is sent with them; they may stand in double quotes.",
        "schema": {"type": "string", "pattern": f'^("{_QUOTED}"|{_BARE})$'},
    },
]


def read_pins(headers: Mapping[str, str]) -> Collection[str] | None:
    """Read the contract hashes that a client accepts: the ETags of `If-Match`; None without the header."""
    if headers.get("If-Match") is None:
        return None
    # A list may come in several headers.
    said = ",".join(value for name, value in headers.items() if name.lower() == "if-match")
    return [part.strip().strip('"') for part in said.split(",")]


JSON = "application/json"
EVENTS = "text/event-stream"
# In which commas and semicolons are texts. One that does not end goes to the end, so that nothing is tried twice.
_QUOTED_TEXT = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?')
_WEIGHT = re.compile(r";\s*q\s*=\s*(1|0?\.[0-9]+|[01]\.[0-9]*|0)\s*(?=;|$)")


@lru_cache(maxsize=64)
def wants_events(accept: str) -> bool:
    """Return whether a client wants events: it names them and does not prefer JSON.

    Where both have the same weight it gets events: a client that cannot read events would not name them.
    """
    weight = _read_ranges(accept).get(EVENTS, 0.0)
    return weight > 0 and weight >= weigh(accept, JSON)


def names_events(accept: str) -> bool:
    """Return whether a client names events, with any weight."""
    return _read_ranges(accept).get(EVENTS, 0.0) > 0


def weigh(accept: str, media_type: str) -> float:
    """Return the weight of a media type for a client, 0 to 1; without the header it is 1."""
    ranges = _read_ranges(accept)
    kind = media_type.partition("/")[0]
    return next((ranges[it] for it in (media_type, f"{kind}/*", "*/*") if it in ranges), 0.0 if ranges else 1.0)


@lru_cache(maxsize=64)
def _read_ranges(accept: str) -> Mapping[str, float]:
    """Parse the media ranges and their weights; other parameters are ignored."""
    ranges: dict[str, float] = {}
    for part in _QUOTED_TEXT.sub("", accept.lower()).split(","):
        name, sign, parameters = part.partition(";")
        found = _WEIGHT.search(sign + parameters)
        if name := name.strip():
            ranges[name] = max(ranges.get(name, 0.0), min(1.0, 1.0 if found is None else float(found[1])))
    return ranges
