"""Fields of every result."""

from collections.abc import Mapping
from typing import Any

from sidecall.features.mcp_server.revisions import SERVER_KEY
from sidecall.version import __version__

SERVER = {"name": "sidecall", "title": "Sidecall", "version": __version__}
META = {SERVER_KEY: SERVER}

# Milliseconds for which a client may cache a list.
_FRESH_FOR = 60_000


# Keys of a call's `_meta` by which a program asks for more. Many clients show the model all of a result's `_meta`.
CALL, ARTIFACT = "sidecall/call", "sidecall/artifact"


_ASKED = frozenset((CALL, ARTIFACT))


def asks_for_more(asked: Mapping[str, Any]) -> bool:
    """Return whether a request's `_meta` asks for more than its result."""
    return not _ASKED.isdisjoint(asked)


def write_meta(asked: Mapping[str, Any], told: Mapping[str, Any], artifact: Any = None) -> dict[str, Any]:
    """Write the `_meta` of a result; call and artifact only as the request's `_meta` asks."""
    meta: dict[str, Any] = {**META}
    if asked.get(CALL) is True:
        meta[CALL] = told
    if asked.get(ARTIFACT) is True and artifact is not None:
        meta[ARTIFACT] = artifact
    return meta


def make_complete(result: dict[str, Any]) -> dict[str, Any]:
    """Mark a result as complete, and name the server that made it."""
    return {**result, "resultType": "complete", "_meta": META}


def hint_caching(*, is_public: bool) -> dict[str, Any]:
    """Write for how long a result may be kept, and whether for others too."""
    return {"ttlMs": _FRESH_FOR, "cacheScope": "public" if is_public else "private"}
