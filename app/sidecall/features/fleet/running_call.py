"""A call that a worker has claimed: what its tool says and asks goes to the server that holds the call."""

import asyncio
import itertools
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from functools import partial
from typing import Any

from pydantic_core import to_jsonable_python

from sidecall.features.processes.child import COST, pack
from sidecall.kernel.concurrency.backpressure import HeldPart, Pause, Reading

# Events on their way, for which the server has not said yet that there is room for more: as many as wait in a stream.
_WINDOW = 256

# Sends a packed message.
Post = Callable[[bytes], None]


class RunningCall:
    """One attempt at a call, in any thread of the worker."""

    def __init__(
        self, call_id: str, number: int, request: Mapping[str, Any], post: Post, begin: Callable[[], None]
    ) -> None:
        """Begin on the event loop of the tools.

        Args:
            call_id: Its id.
            number: That of the attempt.
            request: What the tool needs.
            post: Sends a packed message, from any thread.
            begin: Called right before the tool begins.
        """
        self.id = call_id
        self.number = number
        self.request = request
        self._post = post
        self.begin = begin
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._reading: Reading | None = None  # Made late, since most calls say nothing
        self._on_the_way = 0
        self._missed = 0  # Events that were left out, and not yet told
        self._ids = itertools.count(1)
        self._questions: dict[int, tuple[bytes, Future[Any]]] = {}
        self._is_over = False

    def listen(self, kind: str, _call_id: str, said: Mapping[str, Any]) -> Pause | None:
        """Send an event; return what to wait for where too many are on their way."""
        if "is_heard" not in self.request and kind != "progress":  # Which is shown of every running call.
            return None
        event = {"kind": kind, "said": to_jsonable_python(said, fallback=str)}
        if self._hand_over(event):
            return None
        return HeldPart(self._find_reading(), partial(self._hand_over, event), self._miss)

    def add_cost(self, fine: int) -> None:
        """Send what the tool adds to its cost."""
        self.say("event", {"kind": COST, "said": fine})

    def log(self, name: str, line: list[Any]) -> None:
        """Send a line of the log."""
        self.say("event", {"kind": "log", "said": [name, *line]})

    def say(self, kind: str, content: Mapping[str, Any]) -> None:
        """Send a message about this attempt.

        Raises:
            ValueError: JSON cannot say it.
        """
        self._post(self.write(kind, content))

    def write(self, kind: str, content: Mapping[str, Any]) -> bytes:
        """Pack a message about this attempt.

        Raises:
            ValueError: JSON cannot say it.
        """
        return pack(kind, self.id, {"n": self.number, **content})

    async def ask_without_blocking(self, _kind: str, _subject: str | None, question: Any) -> Any:
        """Ask the server, in a thread or on an event loop; a caller that cannot wait fails before anything is sent.

        Raises:
            RuntimeError: The call has ended.
        """
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return self._ask(question).result()
        await asyncio.sleep(0)
        return await asyncio.wrap_future(self._ask(question))

    def take_reply(self, number: int, reply: Any) -> None:
        """Give the server's reply to what has asked."""
        _, future = self._questions.pop(number, (b"", None))
        if future is not None and not future.done():
            future.set_result(reply)

    def take_room(self, taken: int) -> None:
        """Note that the server has passed on so many events."""
        with self._lock:
            self._on_the_way -= taken
        if self._reading is not None:
            self._reading.note_taken()
            self._reading.wake()

    def ask_again(self) -> None:
        """Send all questions once more: the bus was away, and may have lost them or their replies."""
        for body, _ in list(self._questions.values()):
            self._post(body)
        with self._lock:
            self._on_the_way = 0
        if self._reading is not None:
            self._reading.wake()

    def end(self) -> None:
        """Note that the call has ended, and with it the use of its store."""
        self._is_over = True
        for _, future in list(self._questions.values()):
            future.cancel()

    def _find_reading(self) -> Reading:
        with self._lock:
            if self._reading is None:
                self._reading = Reading(self._loop)
            return self._reading

    def _hand_over(self, event: Mapping[str, Any]) -> bool:
        with self._lock:
            if self._on_the_way >= _WINDOW:
                return False
            self._on_the_way += 1
        self.tell_missed()
        self.say("event", event)
        return True

    def tell_missed(self) -> None:
        """Say how many events were left out since it was last said."""
        with self._lock:
            missed, self._missed = self._missed, 0
        if missed:
            self.say("event", {"kind": "missed", "said": {"count": missed}})

    def _miss(self) -> None:
        with self._lock:
            self._missed += 1

    def _ask(self, question: Any) -> "Future[Any]":
        if self._is_over:
            raise RuntimeError("The call has ended, and with it the use of its store.")
        number, future = next(self._ids), Future[Any]()
        body = pack("ask", self.id, {"n": self.number, "id": number, "question": question})
        self._questions[number] = (body, future)
        self._post(body)
        return future
