"""Answer a complete request at once, without ASGI messages."""

from sidecall.kernel.http.reply import Reply


class DirectResponse:
    """One request and its answer, as our own server hands them over.

    ASGI needs two messages for a request and two for an answer; each costs a coroutine and a dictionary. Our
    server's `receive` and `send` are methods of an exchange; code that gets them unwrapped may call the exchange
    directly.
    """

    __slots__ = ()

    def take_body(self) -> bytes | None:
        """Return the body if it has arrived completely, as `receive` would; else None, and it must be received."""
        return None

    def answer(self, reply: Reply, request_id: bytes) -> bool:  # noqa: ARG002
        """Send a whole answer, as `send` would; return False if it must be sent in messages."""
        return False
