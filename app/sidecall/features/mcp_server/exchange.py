"""What is known of whoever sends a message, whatever way it came."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sidecall.features.mcp_server.revisions import CAPABILITIES_KEY
from sidecall.features.mcp_server.wire import RpcMessage
from sidecall.kernel.core.context import ANONYMOUS, Caller, EventListener, Presence
from sidecall.kernel.core.scopes import DECIDE, DECIDE_OWN

# Makes what hears of a call's progress, given the token under which its client wants to be told.
Tell = Callable[[str | int], EventListener]


@dataclass(slots=True)
class Exchange:
    """Who sends a message, in which revision, and how they can be told something before its answer.

    `url` is where this server is reached over HTTP, if it is. `sent` are the headers that say what the message says
    once more; over pipes there are none.
    """

    caller: Caller = ANONYMOUS
    headers: Mapping[str, str] = field(default_factory=dict)
    is_modern: bool = True
    presence: Presence | None = None
    holder: Hashable = None
    tell: Tell | None = None
    url: str | None = None
    sent: Mapping[bytes, bytes] | None = None

    def make_listener(self, message: RpcMessage) -> EventListener | None:
        """Return what hears of a call's progress; None where its client does not want to be told."""
        token = message.meta.get("progressToken")
        if self.tell is None or isinstance(token, bool) or not isinstance(token, str | int):
            return None
        return self.tell(token)

    def can_ask(self, message: RpcMessage) -> bool:
        """Return whether the client can put a form before a person who may decide, and send the call again."""
        if not (self.is_modern and self.caller.may(DECIDE, DECIDE_OWN)):
            return False
        asks = _read_modes(message)
        # An empty object means forms.
        return asks is not None and (not asks or "form" in asks)

    def can_lead(self, message: RpcMessage) -> bool:
        """Return whether the client can lead its person to an address, and send the call again."""
        return self.is_modern and "url" in (_read_modes(message) or {})


def _read_modes(message: RpcMessage) -> dict[str, Any] | None:
    asks: Any = message.meta[CAPABILITIES_KEY].get("elicitation")
    return asks if isinstance(asks, dict) else None
