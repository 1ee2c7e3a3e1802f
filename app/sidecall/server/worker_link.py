"""The end of a worker: it asks all workers of its server, itself included, and answers them."""

import asyncio
import socket
from typing import Any

from sidecall.kernel.lifecycle import Counts, Handler
from sidecall.server.message_line import Message, MessageLine


class WorkerLink:
    """Peers of a worker, reached through the supervisor.

    What is asked before there is a handler waits for it: the worker is still starting.
    """

    def __init__(self, sock: socket.socket, counts: Counts) -> None:
        """Take the worker's end of the line, and where its counts outlive it."""
        self.counts = counts
        self._line = MessageLine(sock)
        self._handlers: dict[str, Handler] = {}
        self._has_handlers = asyncio.Event()
        self._asked: dict[int, asyncio.Future[Any]] = {}
        self._number = 0
        self._tasks: set[asyncio.Task[None]] = set()

    def handle(self, handlers: dict[str, Handler]) -> None:
        """Answer questions about these topics from now on."""
        self._handlers.update(handlers)
        self._has_handlers.set()

    async def open(self) -> None:
        """Begin to listen, on the running loop."""
        await self._line.open()
        self._spawn(self._listen())

    def close(self) -> None:
        """Ask and answer no more."""
        for task in self._tasks:
            task.cancel()
        self._line.close()

    async def ask(self, topic: str, payload: Any = None) -> Any:
        """Ask all workers, and return what the supervisor has gathered.

        Raises:
            ConnectionError: The supervisor is gone.
        """
        self._number += 1
        answer = self._asked[self._number] = asyncio.get_running_loop().create_future()
        await self._line.send({"ask": self._number, "topic": topic, "payload": payload})
        return await answer

    def _spawn(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _listen(self) -> None:
        try:
            async for message in self._line.messages():
                if "do" in message:
                    self._spawn(self._do(message))
                elif (answer := self._asked.pop(message["answer"], None)) is not None and not answer.done():
                    answer.set_result(message["value"])
        finally:
            for answer in self._asked.values():
                if not answer.done():
                    answer.set_exception(ConnectionError("The supervisor of the workers is gone."))

    async def _do(self, message: Message) -> None:
        await self._has_handlers.wait()
        value = await self._handlers[message["topic"]](message["payload"])
        await self._line.send({"done": message["do"], "value": value})
