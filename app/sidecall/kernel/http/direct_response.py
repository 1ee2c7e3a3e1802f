"""A request that has come whole and is answered at once, past the messages of ASGI."""

from sidecall.kernel.http.reply import Reply


class DirectResponse:
    """One request and its answer, as a server of ours knows them.

    ASGI has two messages for a request and two for an answer, and each costs a coroutine and a dictionary. Our server
    gives applications methods of an exchange to receive and send by. Who has them as they are, and not those that
    somebody has put around them, may ask it directly.
    """

    __slots__ = ()

    def take_body(self) -> bytes | None:
        """Return the body where all of it has come, as `receive` would; else None, and it is to be received."""
        return None

    def answer(self, reply: Reply, request_id: bytes) -> bool:  # noqa: ARG002
        """Send an answer whole, as `send` would; return False where it is to be sent in messages."""
        return False
