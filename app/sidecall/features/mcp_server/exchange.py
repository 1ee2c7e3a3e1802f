"""The sender of a message, independent of the transport."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sidecall.features.mcp_server.revisions import CAPABILITIES_KEY
from sidecall.features.mcp_server.wire import RpcMessage
from sidecall.kernel.core.context import ANONYMOUS, Caller, EventListener, Presence
from sidecall.kernel.core.scopes import DECIDE, DECIDE_OWN

# Makes a listener for a call's progress, given the client's progress token.
Tell = Callable[[str | int], EventListener]


@dataclass(slots=True)
class Exchange:
    """The sender of a message, its revision, and how to send it notifications before the answer.

    `url` is the address of this server over HTTP, if any. `sent` are the headers that repeat parts of the message;
    pipes have none.
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
        """Return a listener for a call's progress; None if the client does not want it."""
        token = message.meta.get("progressToken")
        if self.tell is None or isinstance(token, bool) or not isinstance(token, str | int):
            return None
        return self.tell(token)

    def can_ask(self, message: RpcMessage) -> bool:
        """Return whether the client can show a form to a person who may decide, and repeat the call."""
        if not (self.is_modern and self.caller.may(DECIDE, DECIDE_OWN)):
            return False
        asks = _read_modes(message)
        # An empty object means forms.
        return asks is not None and (not asks or "form" in asks)

    def can_lead(self, message: RpcMessage) -> bool:
        """Return whether the client can lead its person to an address, and repeat the call."""
        return self.is_modern and "url" in (_read_modes(message) or {})


def _read_modes(message: RpcMessage) -> dict[str, Any] | None:
    asks: Any = message.meta[CAPABILITIES_KEY].get("elicitation")
    return asks if isinstance(asks, dict) else None
