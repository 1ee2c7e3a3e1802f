"""What every result carries."""

from typing import Any

from sidecall.mcp.revisions import SERVER_KEY
from sidecall.version import __version__

SERVER = {"name": "sidecall", "title": "Sidecall", "version": __version__}
META = {SERVER_KEY: SERVER}

# Milliseconds for which a client may keep a list without asking again.
_FRESH_FOR = 60_000


def make_complete(result: dict[str, Any]) -> dict[str, Any]:
    """Mark a result as the whole of it, and name the server that made it."""
    return {**result, "resultType": "complete", "_meta": META}


def hint_caching(*, is_public: bool) -> dict[str, Any]:
    """Write for how long a result may be kept, and whether for others too."""
    return {"ttlMs": _FRESH_FOR, "cacheScope": "public" if is_public else "private"}
