"""Headers of cached answers (RFC 9111, and `X-Cache` as proxies write it)."""

from collections.abc import Mapping
from typing import Any

DOCUMENTED: dict[str, dict[str, Any]] = {
    "X-Cache": {
        "description": "Where a tool with a cache has answered, and not failed: `hit`, an answer that was given "
        "before; `shared`, one that other calls have waited for, too; `miss`, the tool has run for this call.",
        "schema": {"type": "string", "enum": ["hit", "shared", "miss"]},
    },
    "Age": {"description": "How many seconds old an answer is that was given before.", "schema": {"type": "integer"}},
}
PARAMETER: dict[str, Any] = {
    "name": "Cache-Control",
    "in": "header",
    "description": "Where the tool has a cache: `no-cache` to have it run, `max-age=10` for an answer that is no "
    "older, `no-store` for one that is neither taken from the cache nor kept there.",
    "schema": {"type": "string"},
    "example": "no-cache",
}


def cache_headers(told: Mapping[str, Any]) -> dict[str, str]:
    """Write what an answer's metadata says of where it comes from."""
    return {"X-Cache": told["status"], **({"Age": str(told["age"])} if "age" in told else {})}
