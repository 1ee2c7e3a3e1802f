"""The process that writes a SQLite file: its work takes nothing from those whom the server answers meanwhile."""

import os
import pickle
import select
import signal
import socket
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from sidecall.core.overload import StoreUnfit
from sidecall.ledger.sql.sqlite.file import SqliteFile, StoreOutOfReach
from sidecall.ledger.sql.sqlite.pen import Order, Pen, Trouble

# Between a server and the process that writes for it; both are of the same program, and nobody else has the socket.
_LENGTH = struct.Struct("!I")
_CHUNK = 1 << 20
# More in one commit would let the first of them wait for long.
_LARGEST_GROUP = 1000
# Seconds between two looks whether the server still lives, where the end of its socket does not say so.
_LOOK = 1.0


def pack_message(content: Any) -> bytes:
    """Write a message."""
    body = pickle.dumps(content, pickle.HIGHEST_PROTOCOL)
    return _LENGTH.pack(len(body)) + body


class Messages:
    """Put messages together from the pieces in which they come."""

    def __init__(self) -> None:
        self._received = bytearray()

    def feed(self, piece: bytes) -> Iterator[Any]:
        """Take the next piece, and yield each message that it completes."""
        self._received += piece
        while len(self._received) >= _LENGTH.size:
            end = _LENGTH.size + _LENGTH.unpack_from(self._received)[0]
            if len(self._received) < end:
                return
            message = pickle.loads(self._received[_LENGTH.size : end])  # noqa: S301  of our own program
            del self._received[:end]
            yield message


def write_for_server(path: str, patience: str, descriptor: str, server: str) -> None:
    """Write a file for a server, until that ends or wants no more."""
    # The server decides when it is over: after what runs in it has ended, which may write to the last.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    pen = Pen(SqliteFile(Path(path), float(patience), holder=int(server)))
    with socket.socket(fileno=int(descriptor)) as link:
        try:
            pen.open()
        except StoreUnfit as error:
            link.sendall(pack_message((isinstance(error, StoreOutOfReach), error.message)))
            return
        try:
            link.sendall(pack_message(None))
            _serve(pen, link, int(server))
        except ConnectionError:  # The server has gone.
            pass
        finally:
            pen.close()  # Before the socket, by whose end the server knows that the file is free.


def _serve(pen: Pen, link: socket.socket, server: int) -> None:
    messages = Messages()
    waiter = select.poll()
    waiter.register(link, select.POLLIN)
    while os.getppid() == server:
        if not waiter.poll(_LOOK * 1000):
            continue
        piece = link.recv(_CHUNK)
        if not piece:
            return
        for reply in _carry_out(pen, list(messages.feed(piece))):
            link.sendall(pack_message(reply))


def _carry_out(pen: Pen, received: list[list[Order] | None]) -> Iterator[Any]:
    """Carry out what has come meanwhile; groups together."""
    group: list[Order] = []
    for message in received:
        if message is not None:
            group += message
        if group and (message is None or len(group) >= _LARGEST_GROUP):
            yield _write(pen, group)
            group = []
        if message is None:
            yield pen.try_again()
    if group:
        yield _write(pen, group)


def _write(pen: Pen, group: Sequence[Order]) -> list[Any] | Trouble:
    outcomes = pen.write(group)
    if isinstance(outcomes, Trouble):
        return outcomes
    return [_as_sent(outcome) if isinstance(outcome, Exception) else outcome for outcome in outcomes]


def _as_sent(error: Exception) -> Exception:
    """Return an error that can be sent."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301  just written
    except Exception:
        return ValueError(str(error))
    return error
