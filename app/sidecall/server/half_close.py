"""Let an answer arrive although its client still sends: a connection that is closed then is reset, answer and all."""

from asyncio import BaseProtocol, Protocol
from typing import Any

# Bytes that are taken from a client that has its answer.
_MOST = 64 * 1024 * 1024


class Lingering(Protocol):
    """Take what a client still sends, up to a bound; how long, those decide who look after its connection."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._left = _MOST

    def data_received(self, data: bytes) -> None:
        """Let it go nowhere."""
        self._left -= len(data)
        if self._left < 0:
            self._connection.transport.close()

    def pause_writing(self) -> None:
        """Pass it on."""
        self._connection.pause_writing()

    def resume_writing(self) -> None:
        """Pass it on."""
        self._connection.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """Pass it on."""
        self._connection.connection_lost(exc)


class LingeringTransport:
    """What an answer is written to that comes before the whole of its request."""

    def __init__(self, transport: Any) -> None:
        self._transport = transport
        self.write = transport.write
        self.is_closing = transport.is_closing

    def close(self) -> None:
        """Leave the client in peace, if it is still served."""
        protocol: BaseProtocol = self._transport.get_protocol()
        leave = getattr(protocol, "leave", self._transport.close)
        leave()
