"""What a process sends: all that is for one place at one time crosses together."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence

from sidecall.features.fleet.frames import MOST_BYTES

# Bytes of messages that are sent together, so that none waits for many others to be read.
_TOGETHER = 65_536

# Sends messages that follow one another to a place.
Publish = Callable[[str, bytes], Awaitable[None]]


class Publisher:
    """Messages to be sent, by their places, for one event loop.

    What is added in one turn of the loop makes one letter for each place. Encrypting, carrying and reading one costs
    many times what a message costs that is only one more in it.
    """

    def __init__(self, publish: Publish) -> None:
        """Send by this function."""
        self._publish = publish
        self._waiting: dict[str, list[bytes]] = {}
        self._added, self._sent = asyncio.Event(), asyncio.Event()
        self._sent.set()
        self._sending: asyncio.Task[None] | None = None

    def open(self) -> None:
        """Begin to send."""
        self._sending = asyncio.create_task(self._send_all())

    async def close(self) -> None:
        """Send no more."""
        if self._sending is not None:
            self._sending.cancel()
            await asyncio.wait((self._sending,))

    def add(self, place: str, body: bytes) -> None:
        """Add a packed message.

        Raises:
            ValueError: It is too large.
        """
        if len(body) > MOST_BYTES:
            raise ValueError(f"It takes {len(body):,} bytes, and {MOST_BYTES:,} at most cross to a worker and back.")
        waiting = self._waiting.get(place)
        if waiting is not None:
            waiting.append(body)
            return
        self._waiting[place] = [body]
        self._added.set()
        self._sent.clear()

    async def wait_until_sent(self) -> None:
        """Wait until nothing waits."""
        await self._sent.wait()

    async def _send_all(self) -> None:
        while True:
            await self._added.wait()
            self._added.clear()
            waiting, self._waiting = self._waiting, {}
            for place, bodies in waiting.items():
                for letter in _put_together(bodies):
                    await self._publish(place, letter)
            if not self._waiting:
                self._sent.set()


def _put_together(bodies: Sequence[bytes]) -> Iterator[bytes]:
    """Yield letters of so many messages as are sent together."""
    letter, size = list[bytes](), 0
    for body in bodies:
        if letter and size + len(body) > _TOGETHER:
            yield b"".join(letter)
            letter, size = [], 0
        letter.append(body)
        size += len(body)
    yield b"".join(letter)
