"""Name the conversation of a call, as its header can carry it."""

import hashlib
import re

from sidecall.client.options import CallOptions

HEADER = "Sidecall-Conversation"
_FIELD = "conversation_id"
# What a server takes as the name of one, which is a part of paths too.
_NAME = re.compile(r"(?!\.{1,2}$)[!-.0-~]{1,256}")


def write_conversation(options: CallOptions) -> dict[str, str]:
    """Return the header for the conversation that goes with a call, unless its context names one.

    A name that the header cannot carry is hashed, so that it is the same each time and another one's never.
    """
    name = options.get("conversation")
    if name is None or _FIELD in (options.get("context") or {}):
        return {}
    if not _NAME.fullmatch(name):
        name = f"sha256-{hashlib.sha256(name.encode(errors='surrogatepass')).hexdigest()}"
    return {HEADER: name}
