"""Flow control: pause and resume reading, and count unsent bytes."""

from asyncio import Transport

from uvicorn.protocols.http.flow_control import FlowControl

from sidecall.kernel.http.backlog import Backlog


class Flow(FlowControl):
    """Uvicorn's flow control with a hold: while reading is held, the application gets no more bytes.

    Unsent bytes count with the events that wait for other clients. Beyond the bound, the client is cut off.
    """

    is_held = False

    def __init__(self, transport: Transport, backlog: Backlog) -> None:
        super().__init__(transport)
        self._backlog = backlog
        self.size = 0

    def resume_reading(self) -> None:
        """Resume reading, unless it is held."""
        if self.read_paused and not self.is_held:
            super().resume_reading()

    def listen(self) -> None:
        """Resume reading although it is held, to detect a disconnect."""
        super().resume_reading()

    def resume_writing(self) -> None:
        """Resume writing: the client has read what there was, or has disconnected."""
        super().resume_writing()
        self.forget()

    def keep(self, size: int) -> None:
        """Count bytes of an answer, which stay in memory until all of them are sent."""
        self.size += size
        self._backlog.add(self, size)

    def look(self, unread: int, *, is_moving: bool) -> None:
        """Raise the count to `unread`, and note whether the client reads, if slowly."""
        if is_moving:
            self._backlog.take(self, 0)
        if not unread:
            self.forget()
        elif unread > self.size:
            self.keep(unread - self.size)

    def forget(self) -> None:
        """Reset the count."""
        size, self.size = self.size, 0
        if size:
            self._backlog.take(self, size)

    def cut(self) -> None:
        """Stop sending, and disconnect."""
        self.forget()
        self._transport.abort()
