"""Backpressure: make the producers of an answer's parts wait while their reader catches up."""

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Protocol

# Seconds after which a reader who has taken nothing stands still; nothing waits for it until it takes something again.
PATIENCE = 10.0
# Seconds between two looks of what waits.
_LOOK = 0.1

Wake = Callable[[], object]


class Pause(Protocol):
    """A part for which its reader has no room."""

    async def wait(self) -> None:
        """Enqueue the part once there is room, on any event loop; drop it if the reader is stalled."""

    def wait_here(self, look: Callable[[], object]) -> None:
        """Do the same in a thread; `look` is called now and then, and may raise."""

    def skip(self) -> None:
        """Drop the part."""


class Reading:
    """The progress of a reader, and the producers that wait for it, in any thread."""

    __slots__ = ("_is_watched", "_lock", "_looks", "_loop", "_waiting", "is_still")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Begin on the event loop that serves this reader."""
        self.is_still = False
        self._loop = loop
        self._looks = 0  # since it has taken something
        self._is_watched = False
        self._lock = threading.Lock()
        self._waiting: dict[Wake, None] = {}

    def note_taken(self) -> None:
        """Note that the reader has taken something; waiting producers check again when they are woken."""
        self._looks = 0
        self.is_still = False

    def wake(self) -> None:
        """Wake all waiting producers so that they check for room."""
        if self._waiting:
            with self._lock:
                waiting = list(self._waiting)
            for wake in waiting:
                with suppress(RuntimeError):  # Its loop is closed.
                    wake()

    @contextmanager
    def listen(self, wake: Wake) -> Iterator[None]:
        """Register a callback that wakes a producer, within the body."""
        with self._lock:
            self._waiting[wake] = None
            is_watched, self._is_watched = self._is_watched, True
        if not is_watched:
            self._watch()
        try:
            yield
        finally:
            with self._lock:
                self._waiting.pop(wake, None)

    def _watch(self) -> None:
        self._looks = 0
        try:
            self._loop.call_soon_threadsafe(self._look)
        except RuntimeError:  # The loop has ended, and with it the reader.
            self.is_still = True

    def _look(self) -> None:
        """Poll, while producers wait, whether the reader has taken something.

        Polls are counted, not seconds: while the event loop is blocked, no reader can take anything.
        """
        with self._lock:
            self._is_watched = bool(self._waiting)
        if not self._is_watched:
            return
        if self._looks * _LOOK >= PATIENCE:
            self.is_still = True
            self.wake()
        self._looks += 1
        self._loop.call_later(_LOOK, self._look)


class HeldPart:
    """A part that waits until its reader has room for it."""

    def __init__(self, reading: Reading, hand_over: Callable[[], bool], leave_out: Callable[[], object]) -> None:
        """Hold a part until its reader has room.

        Args:
            reading: How far its reader is.
            hand_over: Hands the part over and returns True, or returns False where there is no room.
            leave_out: Is called once if the part is left out.
        """
        self._reading = reading
        self._hand_over = hand_over
        self._leave_out = leave_out

    def skip(self) -> None:
        """Drop the part."""
        self._leave_out()

    async def wait(self) -> None:
        """Enqueue the part once there is room, on any event loop."""
        loop = asyncio.get_running_loop()
        woken = asyncio.Event()
        with self._reading.listen(partial(loop.call_soon_threadsafe, woken.set)):
            while not self._is_settled():
                await woken.wait()
                woken.clear()

    def wait_here(self, look: Callable[[], object]) -> None:
        """Enqueue the part once there is room, blocking this thread."""
        woken = threading.Event()
        with self._reading.listen(woken.set):
            while not self._is_settled():
                look()
                woken.wait(_LOOK)
                woken.clear()

    def _is_settled(self) -> bool:
        if self._hand_over():
            return True
        if self._reading.is_still:
            self.skip()
            return True
        return False


class Pauses:
    """A part for which several readers have no room."""

    def __init__(self, pauses: Sequence[Pause]) -> None:
        self._pauses = pauses

    async def wait(self) -> None:
        """Wait for all of them."""
        for pause in self._pauses:
            await pause.wait()

    def wait_here(self, look: Callable[[], object]) -> None:
        """Wait for all of them, in this thread."""
        for pause in self._pauses:
            pause.wait_here(look)

    def skip(self) -> None:
        """Drop the part for all of them."""
        for pause in self._pauses:
            pause.skip()
