"""By what calls are the same that a person has to decide about only once."""

import hashlib
import json
from typing import Any

from sidecall.kernel.core.messages import ToolCall
from sidecall.kernel.core.record import CallRecord
from sidecall.kernel.json_data.text import parse_json, read_object
from sidecall.kernel.ports.workspaces import HEADER


def compute_fingerprint(call: CallRecord, asked: ToolCall | None = None) -> str:
    """Make the same text of calls that are the same: from whom and where, on whose behalf, of what, under which id.

    The state is none of it, since it moves on while a call waits. `known_as` takes the place of an id, and a call
    without either is like no other. Where a tool asks about what it is about to do itself, each such call counts by
    itself.
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
    """Read the arguments, which are the same as text and as an object."""
    if isinstance(args, dict):
        return args
    try:
        return read_object(parse_json(args.encode(errors="surrogatepass") or b"{}"))
    except ValueError:
        return args
