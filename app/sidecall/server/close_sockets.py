"""Stop listening, and close connections, without losing what clients have already sent.

A client that was told it is connected sends its request at once, and a proxy sends none a second time that may have had
an effect. So what the kernel has taken is served before a socket is closed.
"""

import asyncio
import select
import socket
import struct
import sys
from asyncio import AbstractServer
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from ctypes import addressof, create_string_buffer
from typing import Any

# Seconds in which the handshake of a connection ends that has begun: a round trip.
_ROUND_TRIP = 0.05
# Turns of the event loop for what has come; where clients connect without end, the last ones are reset.
_MOST_TURNS = 100

_SO_ATTACH_FILTER = 26
# A filter of the kernel for what comes to the socket: of a TCP segment's flags (byte 13) those for the beginning of a
# connection (SYN) and for an answer to one (ACK); a segment with SYN alone is dropped, all others pass.
_INSTRUCTION = struct.Struct("HBBI")

_NO_BEGINNINGS = b"".join(
    _INSTRUCTION.pack(*instruction)
    for instruction in (
        (0x30, 0, 0, 13),  # load the flags
        (0x54, 0, 0, 0x12),  # leave SYN and ACK
        (0x15, 0, 1, 0x02),  # SYN alone?
        (0x06, 0, 0, 0),  # drop
        (0x06, 0, 0, 0xFFFFFFFF),  # pass
    )
)


async def stop_listening(servers: Iterable[AbstractServer], *, is_alone: bool) -> None:
    """Close listening sockets, once all connections are accepted that clients take for made.

    With `is_alone` no other process listens on them, so that new attempts may be ignored meanwhile. Their clients try
    again a second later, and are refused.
    """
    listeners = [sock for server in servers for sock in getattr(server, "sockets", ())]
    if is_alone and sum(map(ignore_attempts, listeners)):
        await asyncio.sleep(_ROUND_TRIP)
    await take_in(lambda: listeners)
    for server in servers:
        server.close()


def ignore_attempts(listener: Any) -> bool:
    """Have the kernel ignore new attempts to connect, and return whether it does; those that have begun go on."""
    if sys.platform != "linux" or listener.family == socket.AF_UNIX:
        return False
    program = create_string_buffer(_NO_BEGINNINGS, len(_NO_BEGINNINGS))
    wanted = struct.pack("HP", len(_NO_BEGINNINGS) // _INSTRUCTION.size, addressof(program))
    with suppress(OSError):  # Not every kernel that passes for Linux has it.
        listener.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, wanted)
        return True
    return False


async def take_in(list_sockets: Callable[[], Sequence[Any]]) -> None:
    """Give the event loop turns until nothing has come to these sockets that it has not read."""
    quiet = 0
    for _ in range(_MOST_TURNS):
        # Twice, since asyncio needs a turn to begin with what it has accepted.
        quiet = 0 if _have_unread(list_sockets()) else quiet + 1
        if quiet > 1:
            return
        await asyncio.sleep(0)


def _have_unread(sockets: Sequence[Any]) -> bool:
    if not hasattr(select, "poll"):  # Windows has only select(), which takes few.
        return False
    poll = select.poll()
    for sock in sockets:
        if sock.fileno() >= 0:
            poll.register(sock.fileno(), select.POLLIN)
    return bool(poll.poll(0))
