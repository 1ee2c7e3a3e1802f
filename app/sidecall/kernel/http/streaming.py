"""Stream an answer in pieces, and stop its producer as soon as the client disconnects."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, suppress

from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from sidecall.kernel.http.disconnect import DisconnectListener


class PieceStream(Response):
    """A response of unknown length.

    The framework's own leaves the producer to the garbage collector when the client disconnects, which may take long
    and keeps everything it holds.
    """

    def __init__(
        self,
        pieces: AsyncGenerator[bytes],
        first: bytes = b"",
        *,
        media_type: str,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Take what makes the pieces, and the first one where it was made before, so that it could fail with a status.

        The pieces are closed in any case.
        """
        super().__init__(media_type=media_type, headers=headers)
        del self.headers["content-length"]
        self._first = first
        self._pieces = pieces

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        """Send each piece once the one before is on its way."""
        with suppress(ClientDisconnect):  # Nobody is left to be told.
            await DisconnectListener(receive).over(self._send(send))

    async def _send(self, send: Send) -> None:
        async with aclosing(self._pieces) as pieces:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            first, self._first = self._first, b""
            if first:
                await send({"type": "http.response.body", "body": first, "more_body": True})
                del first
            async for piece in pieces:
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
