"""Measure what a client has received, despite the system's socket buffers of megabytes."""

import socket
import struct
import sys
from asyncio import Transport
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

if sys.platform != "win32":
    import fcntl
    import termios

# Bytes of answers that the system takes beyond those on their way to the client. So a client that reads 60 KB/s
# is seen to take something about once a second, and not every half minute.
_MOST_UNSENT = 128 * 1024


def bound_unsent(sockets: Iterable[Any]) -> None:
    """Set a small send buffer limit for connections of these listening sockets."""
    for sock in sockets:
        with suppress(OSError):  # Not every kind of socket has such a bound, nor every system.
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, _MOST_UNSENT)


def count_untaken(transport: Transport) -> int:
    """Return how many bytes the client's system has not acknowledged, including this system's buffer."""
    waiting = transport.get_write_buffer_size()
    sock = transport.get_extra_info("socket")
    if sock is None or sys.platform == "win32":
        return waiting
    try:
        (queued,) = struct.unpack("i", fcntl.ioctl(sock.fileno(), termios.TIOCOUTQ, bytes(4)))
    except (OSError, ValueError):  # It is closed, or the system does not say.
        return waiting
    return waiting + int(queued)
