"""Close a connection whose client is still sending, without a reset that would destroy the answer."""

from asyncio import BaseProtocol, Protocol
from typing import Any

# Bytes that are taken from a client that has its answer.
_MOST = 64 * 1024 * 1024


class Lingering(Protocol):
    """Discards what a client still sends, up to a bound; the connection sweep limits the time."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._left = _MOST

    def data_received(self, data: bytes) -> None:
        """Discard the data."""
        self._left -= len(data)
        if self._left < 0:
            self._connection.transport.close()

    def pause_writing(self) -> None:
        """Forward the call."""
        self._connection.pause_writing()

    def resume_writing(self) -> None:
        """Forward the call."""
        self._connection.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forward the call."""
        self._connection.connection_lost(exc)


class LingeringTransport:
    """Transport for an answer that is sent before its request is complete."""

    def __init__(self, transport: Any) -> None:
        self._transport = transport
        self.write = transport.write
        self.is_closing = transport.is_closing

    def close(self) -> None:
        """Do not close the connection while its client is still served."""
        protocol: BaseProtocol = self._transport.get_protocol()
        leave = getattr(protocol, "leave", self._transport.close)
        leave()
