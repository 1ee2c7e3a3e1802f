"""Keys that identify repeated calls: the same key with the same call is a repetition, with another it is refused."""

import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sidecall.features.jobs.errors import KeyReused
from sidecall.kernel.core.context import Caller, cut_id
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.messages import ToolCall
from sidecall.kernel.core.native_results import CUT_OFF
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.json_data.text import quote_text, read_args
from sidecall.kernel.ports.workspaces import HEADER, find_conversation


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

    def require_same_call(self, fingerprint: str) -> None:
        """Require the call that is stored with this key to be the same.

        Raises:
            KeyReused: It is another call.
        """
        if fingerprint != self.fingerprint:
            raise KeyReused(self.reused)


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


_SENT = (
    "The `Idempotency-Key` came before with another call: another tool, other arguments, state, context or "
    "conversation. Send this call with another key."
)
# Names no header if none was sent: in a batch the model reads this.
_USED = (
    "The id `{id}` was used before, for a call of {tool} with other arguments, and stands for that. Nothing was run."
    " Send this call with another id."
)


def make_call_key(request: CallRequest, tool: CompiledTool, sent: str | None, ttl: float) -> CallKey | None:
    """Make the key of a call: the one that its program sent, or the model's id if its tool opts in.

    None for a call without one, and for a truncated call: the key belongs to the complete one.

    Args:
        request: The call.
        tool: Its tool.
        sent: The program's key.
        ttl: Seconds for which the key is kept after the call's end.
    """
    if request.call.item is not None and CUT_OFF in request.call.item:
        return None
    expires_at = time.time() + ttl
    if sent is not None:
        # No context equals an empty one.
        beside = [None if request.state == {} else request.state, dict(request.context)]
        if HEADER.lower() in request.sender.headers:
            beside.append(request.sender.headers[HEADER.lower()])
        return replace(make_key("header", request.sender.caller, sent, request.call, beside, expires_at), reused=_SENT)
    if tool.options.idempotency == "tool_call_id" and request.call.id:
        # Without the state, which changes while an agent retries.
        key = make_key(_name_ids(request, tool), request.sender.caller, request.call.id, request.call, (), expires_at)
        return replace(key, reused=_USED.format(id=cut_id(request.call.id), tool=tool.name))
    return None


def _name_ids(request: CallRequest, tool: CompiledTool) -> str:
    """Identify calls by id, tool and conversation, since models number their calls anew in each conversation."""
    conversation = find_conversation(request.sender.headers, request.context)
    return f"id {tool.name}" if conversation is None else f"id {tool.name} of {conversation}"


def make_replay_key(request: CallRequest, replay_of: str, sent: str, ttl: float) -> CallKey:
    """Make the key of a replay, in a namespace of its own for each call."""
    return make_key(f"replay {replay_of}", request.sender.caller, sent, request.call, (), time.time() + ttl)
