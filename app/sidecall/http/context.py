"""The context of a request besides its body, built once."""

from collections.abc import Coroutine
from typing import Any

from starlette.datastructures import Headers
from starlette.types import Receive, Scope

from sidecall.http.authentication import HEADERS, caller_of
from sidecall.http.disconnect import DisconnectListener, DisconnectSweep, T
from sidecall.kernel.core.origin import CONVERSATION, PARENT
from sidecall.kernel.core.sender import Deadline, Sender


class BareHeaders(Headers):
    """Headers that name neither a conversation nor a trace, as those of most requests."""

    names_origin = False

    def __init__(self, raw: list[tuple[bytes, bytes]]) -> None:
        # As the framework's own, without its choice between three forms.
        self._list = raw


class RequestContext(Sender, frozen=True):
    """The sender of an HTTP request, whose calls may be watched over while it is connected."""

    presence: DisconnectListener | None = None

    def while_present(self, work: Coroutine[Any, Any, T]) -> Coroutine[Any, Any, T]:
        """Do some work, but cancel it when the client disconnects; the body must have been read.

        Raises:
            ClientDisconnect: It has.
        """
        return work if self.presence is None else self.presence.over(work)

    def begin_while_present(self, work: Coroutine[Any, Any, T]) -> tuple[bool, Any]:
        """Begin work: return whether it is done, and its result, or else an awaitable for it."""
        return (False, work) if self.presence is None else self.presence.begin(work)


def make_context(
    scope: Scope, receive: Receive, deadline: Deadline | None = None, sweep: DisconnectSweep | None = None
) -> RequestContext:
    """Gather what the server knows of a request; its connection is watched by a shared sweep."""
    named = scope.get(HEADERS)
    bare = named is not None and PARENT not in named and CONVERSATION not in named
    headers = BareHeaders(scope["headers"]) if bare else Headers(scope=scope)
    presence = DisconnectListener(receive, sweep)
    return RequestContext(headers, caller_of(scope), presence, deadline, holder=presence)
