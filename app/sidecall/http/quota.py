"""Write in headers what a caller has left, as draft-ietf-httpapi-ratelimit-headers-11 does."""

from typing import Any

from sidecall.core.quota import Quota


def quota_headers(quota: Quota | None) -> dict[str, str]:
    """Write the headers; none where calls are not counted."""
    if quota is None:
        return {}
    return {
        "RateLimit-Policy": f'"calls";q={quota.most};w={quota.seconds}',
        "RateLimit": f'"calls";r={quota.left};t={quota.more_in}',
    }


# What the OpenAPI document says of them.
DOCUMENTED: dict[str, dict[str, Any]] = {
    "RateLimit-Policy": {
        "description": "Where calls are counted: you may make `q` calls in `w` seconds.",
        "schema": {"type": "string"},
        "example": '"calls";q=100;w=60',
    },
    "RateLimit": {
        "description": "Where calls are counted: you have `r` calls left, and one more in `t` seconds.",
        "schema": {"type": "string"},
        "example": '"calls";r=99;t=1',
    },
}
