"""Write in headers what a caller has left, as draft-ietf-httpapi-ratelimit-headers-11 does."""

from collections.abc import Sequence
from typing import Any

from sidecall.core.quota import Quota


def quota_headers(quotas: Sequence[Quota]) -> dict[str, str]:
    """Write the headers; none where calls are not counted."""
    if not quotas:
        return {}
    return {
        "RateLimit-Policy": ", ".join(f'"{quota.name}";q={quota.most};w={quota.seconds}' for quota in quotas),
        "RateLimit": ", ".join(f'"{quota.name}";r={quota.left};t={quota.more_in}' for quota in quotas),
    }


# What the OpenAPI document says of them.
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
