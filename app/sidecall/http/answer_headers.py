"""Headers that say of an answer what its form may have no field for: which calls wait, and whether it was cached."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import quote

from sidecall.kernel.core.messages import ToolMessage
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


CACHE: dict[str, dict[str, Any]] = {
    "X-Cache": {
        "description": "Where a tool with a cache has answered, and not failed: `hit`, an answer that was given "
        "before; `shared`, one that other calls have waited for, too; `miss`, the tool has run for this call.",
        "schema": {"type": "string", "enum": ["hit", "shared", "miss"]},
    },
    "Age": {"description": "How many seconds old an answer is that was given before.", "schema": {"type": "integer"}},
}
CACHE_CONTROL: dict[str, Any] = {
    "name": "Cache-Control",
    "in": "header",
    "description": "Where the tool has a cache: `no-cache` to have it run, `max-age=10` for an answer that is no "
    "older, `no-store` for one that is neither taken from the cache nor kept there.",
    "schema": {"type": "string"},
    "example": "no-cache",
}


def cache_headers(told: Mapping[str, Any]) -> dict[str, str]:
    """Write what an answer's metadata says of where it comes from (RFC 9111, and `X-Cache` as proxies write it)."""
    return {"X-Cache": told["status"], **({"Age": str(told["age"])} if "age" in told else {})}


# Names the calls of a batch that wait for a person.
HEADER = "X-Sidecall-Approvals"
# Proxies often limit the headers of an answer to 4 KiB.
_LONGEST = 3072
WAITING: dict[str, dict[str, Any]] = {
    HEADER: {
        "description": (
            "Which calls wait for a person: `call_id=approval_id`, with commas between them. Ids of calls are "
            "percent-encoded; `*=3` at the end says that three more had no room."
        ),
        "schema": {"type": "string"},
        "example": "call_2=01936c5e-7a4b-7c3d-9e2f-5a6b7c8d9e0f",
    }
}


def waiting_headers(messages: Sequence[ToolMessage]) -> dict[str, str]:
    """Write the header; none where no call waits."""
    waiting = [(message, found) for message in messages if (found := find_approval(message)) is not None]
    pairs = dict.fromkeys(f"{quote(message.tool_call_id, safe='')}={found}" for message, found in waiting)
    if not pairs:
        return {}
    shown: list[str] = []
    left = _LONGEST
    for pair in pairs:
        left -= len(pair) + 2
        if left < 0:
            shown.append(f"*={len(pairs) - len(shown)}")
            break
        shown.append(pair)
    return {HEADER: ", ".join(shown)}


def find_approval(message: ToolMessage) -> str | None:
    """Return which approval a call waits for, if it does."""
    told = message.response_metadata
    if "approval_id" not in told or told.get("error", {}).get("kind") != "approval_required":
        return None
    return str(told["approval_id"])
