"""Idempotency keys of calls."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.messages import ToolCall
from sidecall.kernel.json_data.text import quote_text
from sidecall.kernel.ports.approvals.fingerprint import read_args


@dataclass(frozen=True, slots=True)
class CallKey:
    """The key that identifies repeated requests of a call.

    `expires_at` (seconds since 1970) is the expiry if the call ends at once; a later end extends it. `reused` describes
    the conflict when the key belongs to another call.
    """

    text: str
    fingerprint: str
    expires_at: float
    reused: str | None = None


def make_key(kind: str, caller: Caller, text: str, call: ToolCall, beside: Sequence[Any], expires_at: float) -> CallKey:
    """Make the key of a call; equal texts of two callers make two keys.

    Args:
        kind: The source of the text.
        caller: The sender.
        text: The text of the key.
        call: The call that the key identifies.
        beside: State and context, which also distinguish calls.
        expires_at: When the key expires if the call ends at once, in seconds since 1970.
    """
    whose = ", ".join(map(quote_text, (kind, caller.tenant, caller.subject, text)))
    # Without its id: programs that send none get a new one each time.
    what = [call.name, read_args(call.args), *beside]
    return CallKey(_hash(f"[{whose}]"), _hash(_write(what)), expires_at)


# Made on demand, since that takes as long as using it.
_write = json.JSONEncoder(sort_keys=True).encode


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
