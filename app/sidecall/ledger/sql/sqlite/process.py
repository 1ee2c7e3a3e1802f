"""The process that writes a SQLite file: its work takes nothing from those whom the server answers meanwhile."""

import os
import pickle
import select
import signal
import socket
import struct
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from sidecall.core.overload import StoreUnfit
from sidecall.ledger.sql.sqlite.file import SqliteFile
from sidecall.ledger.sql.sqlite.pen import Order, Pen, Trouble
from sidecall.ledger.sql.sqlite.purposes import PURPOSES

# Between a server and the process that writes for it; both are of the same program, and nobody else has the socket.
_NUMBER = struct.Struct("!I")
# The head of a message of one part, as most are.
_HEAD_OF_ONE = struct.Struct("!II")
_CHUNK = 1 << 20
# More in one commit would let the first of them wait for long.
_LARGEST_GROUP = 1000
# Seconds between two looks whether the server still lives, where the end of its socket does not say so.
_LOOK = 1.0


def pack_message(content: Any) -> list[bytes | memoryview]:
    """Write a message in parts; each large one of what it holds is a part by itself, lest it is copied."""
    apart: list[pickle.PickleBuffer] = []
    body = pickle.dumps(content, pickle.HIGHEST_PROTOCOL, buffer_callback=apart.append)
    if not apart and len(body) < _CHUNK:
        return [_HEAD_OF_ONE.pack(1, len(body)) + body]
    parts: list[bytes | memoryview] = [body, *(buffer.raw() for buffer in apart)]
    head = _NUMBER.pack(len(parts)) + b"".join(_NUMBER.pack(len(part)) for part in parts)
    return [head, *parts]


class Messages:
    """Put messages together from the pieces in which they come."""

    def __init__(self) -> None:
        self._received = bytearray()

    def feed(self, piece: bytes) -> Iterator[Any]:
        """Take the next piece, and yield each message that it completes."""
        if not self._received and len(piece) > _HEAD_OF_ONE.size:
            count, size = _HEAD_OF_ONE.unpack_from(piece)
            if count == 1 and len(piece) == _HEAD_OF_ONE.size + size:
                yield pickle.loads(memoryview(piece)[_HEAD_OF_ONE.size :])  # noqa: S301  of our own program
                return
        self._received += piece
        while (ends := self._find_ends()) and len(self._received) >= ends[-1]:
            body, *apart = (bytes(self._received[start:end]) for start, end in pairwise(ends))
            del self._received[: ends[-1]]
            yield pickle.loads(body, buffers=apart)  # noqa: S301  of our own program

    def _find_ends(self) -> list[int]:
        """Find where the head of the next message and each of its parts end; empty while the head is not whole."""
        if len(self._received) < _NUMBER.size:
            return []
        (count,) = _NUMBER.unpack_from(self._received)
        head = _NUMBER.size * (1 + count)
        if len(self._received) < head:
            return []
        sizes = (_NUMBER.unpack_from(self._received, _NUMBER.size * place)[0] for place in range(1, count + 1))
        return list(accumulate(sizes, initial=head))


def _say(link: socket.socket, content: Any) -> None:
    link.sendall(b"".join(pack_message(content)))


def write_for_server(series: str, path: str, patience: str, descriptor: str, server: str) -> None:
    """Write a file for a server, until that ends or wants no more."""
    # The server decides when it is over: after what runs in it has ended, which may write to the last.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    purpose = next(one for one in PURPOSES if one.series == series)
    pen = Pen(SqliteFile(Path(path), float(patience), purpose, holder=int(server)))
    with socket.socket(fileno=int(descriptor)) as link:
        try:
            usable = pen.open()
        except StoreUnfit as error:
            _say(link, (type(error), error.message))
            return
        try:
            _say(link, usable)
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
            if (trouble := pen.look()) is not None:
                _say(link, trouble)
            continue
        piece = link.recv(_CHUNK)
        if not piece:
            return
        for reply in _carry_out(pen, list(messages.feed(piece))):
            _say(link, reply)


def _carry_out(pen: Pen, received: list[list[Order] | bool]) -> Iterator[Any]:
    """Carry out what has come meanwhile; groups together."""
    group: list[Order] = []
    for message in received:
        is_trial = isinstance(message, bool)
        if not isinstance(message, bool):
            group += message
        if group and (is_trial or len(group) >= _LARGEST_GROUP):
            yield _write(pen, group)
            group = []
        if isinstance(message, bool):
            yield pen.try_again(message)
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
