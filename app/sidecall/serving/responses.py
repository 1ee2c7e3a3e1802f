"""Write the head of a response together with the first part of its body.

ASGI has two messages for them, of which uvicorn makes two writes, and two system calls. A head that says how long its
body is waits for that body; all others (streams, 304) are written at once.
"""

from asyncio import Transport
from typing import Any

from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

_INFORMATIONAL = b"HTTP/1.1 1"
_LENGTH = b"\r\ncontent-length: "


class HeldHead:
    """Stand between one response and its connection's transport, with what uvicorn asks of one."""

    __slots__ = ("_has_head", "_head", "_transport")

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._has_head = False
        self._head = b""

    def write(self, data: bytes) -> None:
        """Write on, but keep a head whose body has a known length."""
        if self._head:
            self._transport.write(self._head + data)
            self._head = b""
        elif self._has_head:
            self._transport.write(data)
        else:
            self._has_head = not data.startswith(_INFORMATIONAL)
            if self._has_head and _LENGTH in data:
                self._head = data
            else:
                self._transport.write(data)

    def take_back(self) -> bool:
        """Forget the head that is held, and return whether there was one."""
        was_held = bool(self._head)
        self._head = b""
        self._has_head = self._has_head and not was_held
        return was_held

    def close(self) -> None:
        """Close the connection; a response that breaks off after its head is seen to do so."""
        if self._head:
            self.write(b"")
        self._transport.close()

    def is_closing(self) -> bool:
        """Return whether the connection is closed or about to be."""
        return self._transport.is_closing()


def hold_head(cycle: RequestResponseCycle) -> None:
    """Let the head of this response wait for its body; of a request with HEAD there is none to wait for."""
    if cycle.scope["method"] != "HEAD":
        cycle.transport = HeldHead(cycle.transport)  # type: ignore[assignment]  # has all that a cycle calls


def has_begun(cycle: RequestResponseCycle) -> bool:
    """Return whether the client has been sent anything of the response; a head that is held is taken back."""
    transport: Any = cycle.transport
    if cycle.response_started and isinstance(transport, HeldHead) and transport.take_back():
        cycle.response_started = False
        cycle.chunked_encoding = None
        cycle.expected_content_length = 0
    return cycle.response_started
