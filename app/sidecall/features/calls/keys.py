"""By what a call is known again when it comes twice."""

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
    """By what a call is known again when it comes twice.

    `expires_at`, in seconds since 1970, is until when it is known if its call ends at once; with any later end its time
    begins anew. `reused` says what is wrong where the key stands for another call.
    """

    text: str
    fingerprint: str
    expires_at: float
    reused: str | None = None


def make_key(kind: str, caller: Caller, text: str, call: ToolCall, beside: Sequence[Any], expires_at: float) -> CallKey:
    """Make the key of a call: the same text of two callers makes two.

    Args:
        kind: Where the text comes from.
        caller: Who sent it.
        text: What it sent.
        call: What the key stands for.
        beside: What came with the call and makes it another one: state and context.
        expires_at: Until when the key is known if the call ends at once, in seconds since 1970.
    """
    whose = ", ".join(map(quote_text, (kind, caller.tenant, caller.subject, text)))
    # Not its id, which programs that send none get anew each time.
    what = [call.name, read_args(call.args), *beside]
    return CallKey(_hash(f"[{whose}]"), _hash(_write(what)), expires_at)


# To make one takes as long as to use it.
_write = json.JSONEncoder(sort_keys=True).encode


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
