"""Fingerprint of a call: equal calls need only one decision."""

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from sidecall.kernel.core.messages import ToolCall
from sidecall.kernel.core.record import CallRecord
from sidecall.kernel.json_data.text import parse_json, read_object
from sidecall.kernel.ports.user_tokens import SignIn
from sidecall.kernel.ports.workspaces import HEADER


def compute_fingerprint(call: CallRecord, asked: ToolCall | None = None) -> str:
    """Return equal fingerprints for equal calls: same caller, context, conversation, tool, arguments and id.

    The state is left out, since it changes while a call waits. `known_as` replaces an id, and a call without either
    equals no other. Where a tool asks about calls that it wants to make itself, each of these counts separately.
    """
    caller, sent = call.caller, call.tool_call
    known_as = call.known_as or sent.id or [call.id]
    told = [caller.tenant, caller.subject, sent.name, known_as, read_args(sent.args), call.context]
    if HEADER.lower() in call.headers:
        told.append({HEADER: call.headers[HEADER.lower()]})
    if asked is not None and asked.name != sent.name:
        told += [asked.name, read_args(asked.args)]
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def read_args(args: dict[str, Any] | str) -> Any:
    """Parse the arguments, so that text and object compare equal."""
    if isinstance(args, dict):
        return args
    try:
        return read_object(parse_json(args.encode(errors="surrogatepass") or b"{}"))
    except ValueError:
        return args


@dataclass(frozen=True, slots=True)
class AskedTool:
    """The definition of the tool that a person is asked about, and its hash."""

    hash: str
    definition: Any


@dataclass(frozen=True, slots=True)
class Preview:
    """What the deciding person should know, as the tool's author describes it.

    `shown` is what the call would do, in text or JSON; `error` is why there is no preview. A tool that asks while it
    runs sets `description` to the question, `payload` to further data, and `state` to what it wants back. With
    `sign_in` there is no decision: a person has to sign in first. `tool` is what the decision is bound to.
    """

    shown: Any = None
    error: str | None = None
    description: str | None = None
    payload: Any = None
    sign_in: SignIn | None = None
    state: Any = None
    tool: AskedTool | None = None


NO_PREVIEW = Preview()
