"""The conversation header of a call."""

import hashlib
import re

from sidecall.client.options import CallOptions

HEADER = "Sidecall-Conversation"
_FIELD = "conversation_id"
# What a server takes as the name of one, which is a part of paths too.
_NAME = re.compile(r"(?!\.{1,2}$)[!-.0-~]{1,256}")


def write_conversation(options: CallOptions) -> dict[str, str]:
    """Return the conversation header of a call, unless its context names the conversation.

    A name that is no valid header value is hashed, so that it is stable and unique.
    """
    name = options.get("conversation")
    if name is None or _FIELD in (options.get("context") or {}):
        return {}
    if not _NAME.fullmatch(name):
        name = f"sha256-{hashlib.sha256(name.encode(errors='surrogatepass')).hexdigest()}"
    return {HEADER: name}
