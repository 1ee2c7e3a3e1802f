"""What crosses the bus: frames that nobody without the key can read, make, change, or send a second time.

A frame is a head and its content, which is encrypted where there is a key:

    version     of all that is said on the bus, one byte
    key         by which one it is encrypted; zeros without one
    sender      a random id that each process takes when it starts
    number      of the message, counted by its sender
    piece, of   which piece of the message it is, and of how many

Each sender encrypts with a key of its own, derived from the shared one and its id, so that its count can be the nonce
and never repeats. The head and the place that a frame is sent to are authenticated too.
"""

import base64
import hashlib
import hmac
import os
import struct
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sidecall.kernel.core.errors import SidecallError
from sidecall.lazy_imports import Later

_aead = Later("cryptography.hazmat.primitives.ciphers.aead")

# Of what the frames and the messages in them say. Others are told apart by it and left alone.
VERSION = 1
_HEAD = struct.Struct("!B4s16sQHH")
_NONCE = struct.Struct("!QHH")
_NO_KEY = bytes(4)
_PURPOSE = b"sidecall.fleet.1"
# What encryption adds to a content.
_TAG = 16
# Most bytes of a message.
MOST_BYTES = 17 * 1024 * 1024
# Senders that are remembered; the ones not heard for longest are forgotten.
_MOST_SENDERS = 10_000


class FrameRefused(SidecallError):
    """A frame is not for us: of another version, without our key, changed, or seen before."""


class KeysUnusable(SidecallError):
    """What encrypts is not installed."""


class Received(NamedTuple):
    """A message, and the id of its sender in hexadecimal."""

    sender: str
    body: bytes


@dataclass(slots=True)
class _Sender:
    """What is known of one sender at one place: its last frame, and the pieces of its message so far."""

    last: tuple[int, int] = (-1, -1)
    pieces: list[bytes] = field(default_factory=list)
    size: int = 0


class Frames:
    """Makes the frames of one process, and reads those of others."""

    def __init__(self, keys: Sequence[str]) -> None:
        """Take keys, each the base64 of 32 random bytes; the first encrypts. Without any nothing is encrypted.

        Raises:
            KeysUnusable: The library for it is not installed.
        """
        self.id = os.urandom(16)
        octets = [base64.b64decode(key) for key in keys]
        self._keys = {hashlib.sha256(_PURPOSE + key).digest()[:4]: key for key in octets}
        self._key_id = next(iter(self._keys), _NO_KEY)
        self._own = self._derive(self._key_id, self.id) if octets else None
        self._count = 0
        self._senders: OrderedDict[tuple[bytes, str], _Sender] = OrderedDict()
        self._ciphers: OrderedDict[tuple[bytes, bytes], Any] = OrderedDict()

    @property
    def name(self) -> str:
        """The id of this process, in hexadecimal."""
        return self.id.hex()

    def write(self, place: str, body: bytes, most: int) -> Iterator[bytes]:
        """Yield the frames of a message to a place, of `most` bytes each.

        Raises:
            ValueError: It is too large.
        """
        if len(body) > MOST_BYTES:
            raise ValueError(f"It takes {len(body):,} bytes, and {MOST_BYTES:,} at most cross to a worker and back.")
        room = most - _HEAD.size - _TAG
        number, self._count = self._count, self._count + 1
        of = max(1, -(-len(body) // room))
        for piece in range(of):
            head = _HEAD.pack(VERSION, self._key_id, self.id, number, piece, of)
            part = body if of == 1 else body[piece * room : (piece + 1) * room]
            if self._own is not None:
                part = self._own.encrypt(_NONCE.pack(number, piece, of), part, head + place.encode())
            yield head + part

    def read(self, place: str, frame: bytes) -> Received | None:
        """Read a frame that came at a place: return the message that it completes, None where pieces are missing.

        Raises:
            FrameRefused: It is not for us.
        """
        sender, number, piece, of, body = self._open(place, frame)
        known = self._senders.setdefault((sender, place), _Sender())
        self._senders.move_to_end((sender, place))
        if len(self._senders) > _MOST_SENDERS:
            self._senders.popitem(last=False)
        if (number, piece) <= known.last:
            raise FrameRefused("a frame came a second time")
        before = known.last[0]
        known.last = (number, piece)
        if piece == 0:
            known.pieces, known.size = [], 0
        known.size += len(body)
        # After a piece that is missing no other of its message counts.
        if len(known.pieces) != piece or (piece and before != number) or known.size > MOST_BYTES:
            known.pieces = []
            raise FrameRefused("a message has lost a piece, or is too large")
        known.pieces.append(body)
        if piece + 1 < of:
            return None
        whole, known.pieces = known.pieces, []
        return Received(sender.hex(), whole[0] if of == 1 else b"".join(whole))

    def read_alone(self, place: str, frame: bytes) -> Received:
        """Read a frame that is a whole message, and may rightly come more than once.

        Raises:
            FrameRefused: It is not for us.
        """
        sender, _, _, of, body = self._open(place, frame)
        if of != 1:
            raise FrameRefused("a ticket has one frame")
        return Received(sender.hex(), body)

    def _open(self, place: str, frame: bytes) -> tuple[bytes, int, int, int, bytes]:
        if len(frame) < _HEAD.size:
            raise FrameRefused("a frame is too short")
        head, body = frame[: _HEAD.size], frame[_HEAD.size :]
        version, key_id, sender, number, piece, of = _HEAD.unpack(head)
        if version != VERSION:
            raise FrameRefused(f"a frame is of version {version}, and this program speaks {VERSION}")
        if not self._keys:
            if key_id != _NO_KEY:
                raise FrameRefused("a frame is encrypted, and this program has no SIDECALL_FLEET_KEY")
        else:
            body = self._decrypt(key_id, sender, _NONCE.pack(number, piece, of), body, head + place.encode())
        if piece >= of:
            raise FrameRefused("a frame is none of its message")
        return sender, number, piece, of, body

    def _decrypt(self, key_id: bytes, sender: bytes, nonce: bytes, code: bytes, beside: bytes) -> bytes:
        if key_id not in self._keys:
            raise FrameRefused("a frame is encrypted with another SIDECALL_FLEET_KEY, or with none")
        cipher = self._ciphers.get((key_id, sender)) or self._derive(key_id, sender)
        try:
            body: bytes = cipher.decrypt(nonce, code, beside)
        except Exception:  # InvalidTag, of a library that is only loaded with keys.
            raise FrameRefused("a frame was changed, or is made with another SIDECALL_FLEET_KEY") from None
        self._ciphers[key_id, sender] = cipher
        if len(self._ciphers) > _MOST_SENDERS:
            self._ciphers.popitem(last=False)
        return body

    def _derive(self, key_id: bytes, sender: bytes) -> Any:
        try:
            return _aead.AESGCM(hmac.digest(self._keys[key_id], _PURPOSE + sender, "sha256"))
        except ImportError:
            raise KeysUnusable(
                "SIDECALL_FLEET_KEY needs an extra: pip install 'sidecall[fleet,secrets]', or leave it out where the "
                "bus is on this machine."
            ) from None
