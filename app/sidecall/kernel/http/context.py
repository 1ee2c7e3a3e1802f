"""The context of a request besides its body: built once, and passed on."""

from collections.abc import Collection, Coroutine, Mapping
from typing import Any, TypeVar

from msgspec import Struct, field
from starlette.datastructures import Headers
from starlette.types import Receive, Scope

from sidecall.kernel.core.context import ANONYMOUS, Caller
from sidecall.kernel.core.deadline import Deadline
from sidecall.kernel.core.origin import CONVERSATION, PARENT
from sidecall.kernel.http.authentication import HEADERS, caller_of
from sidecall.kernel.http.disconnect import DisconnectListener, DisconnectSweep

T = TypeVar("T")


class BareHeaders(Headers):
    """Headers that name neither a conversation nor a trace, as those of most requests."""

    names_origin = False


class RequestContext(Struct):
    """The sender of a request, its headers, whether it is still connected, and its deadline.

    `pinned` are the allowed contract hashes of its tool.
    """

    headers: Mapping[str, str] = field(default_factory=dict)
    caller: Caller = ANONYMOUS
    presence: DisconnectListener | None = None
    deadline: Deadline | None = None
    pinned: Collection[str] | None = None

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
    headers = (BareHeaders if bare else Headers)(scope=scope)
    return RequestContext(headers, caller_of(scope), DisconnectListener(receive, sweep), deadline)
