"""The quota headers of draft-ietf-httpapi-ratelimit-headers-11."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from sidecall.kernel.core.quota import Quota

# Cached texts of policies.
_POLICIES = 1024


def quota_headers(quotas: Sequence[Quota]) -> dict[str, str]:
    """Write the headers; none where calls are not counted."""
    if not quotas:
        return {}
    if len(quotas) == 1:  # As most have, with every answer.
        most, seconds, left, more_in, name = quotas[0]
        return {"RateLimit-Policy": _write_policy(most, seconds, name), "RateLimit": f'"{name}";r={left};t={more_in}'}
    return {
        "RateLimit-Policy": ", ".join(_write_policy(quota.most, quota.seconds, quota.name) for quota in quotas),
        "RateLimit": ", ".join(f'"{quota.name}";r={quota.left};t={quota.more_in}' for quota in quotas),
    }


@lru_cache(_POLICIES)
def _write_policy(most: int, seconds: int, name: str) -> str:
    return f'"{name}";q={most};w={seconds}'


# Their description in the OpenAPI document.
DOCUMENTED: dict[str, dict[str, Any]] = {
    "RateLimit-Policy": {
        "description": "Where calls are counted: you may make `q` calls in `w` seconds; `calls:search` are those of "
        "the tool `search`.",
        "schema": {"type": "string"},
        "example": '"calls";q=100;w=60',
    },
    "RateLimit": {
        "description": "Where calls are counted: you have `r` calls left, and one more in `t` seconds.",
        "schema": {"type": "string"},
        "example": '"calls";r=99;t=1',
    },
}
