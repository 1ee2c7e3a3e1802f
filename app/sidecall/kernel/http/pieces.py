"""Send a large body in pieces, so that a slow reader needs no copy of it."""

from fastapi import Response
from starlette.types import Receive, Scope, Send

# What the network takes at once before it lets a sender wait.
PIECE = 64 * 1024


class InPieces(Response):
    """A response whose body, or the buffer behind it, may be shared; unsent parts are not copied."""

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        """Send the head, then the pieces in sequence."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        body = memoryview(self.body)
        for start in range(0, len(body) or 1, PIECE):
            piece, is_last = bytes(body[start : start + PIECE]), start + PIECE >= len(body)
            await send({"type": "http.response.body", "body": piece, "more_body": not is_last})
