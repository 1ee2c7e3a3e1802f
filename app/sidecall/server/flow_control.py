"""Let the bytes of a client come, or wait, and count those that wait for it."""

from asyncio import Transport

from uvicorn.protocols.http.flow_control import FlowControl

from sidecall.kernel.http.backlog import Backlog


class Flow(FlowControl):
    """Uvicorn's flow of bytes, which can be held: the application that waits for more then gets none.

    What the client does not read counts with the events that wait for others. Where that is too much, it is cut off.
    """

    is_held = False

    def __init__(self, transport: Transport, backlog: Backlog) -> None:
        super().__init__(transport)
        self._backlog = backlog
        self.size = 0

    def resume_reading(self) -> None:
        """Let bytes come again, unless they are held."""
        if self.read_paused and not self.is_held:
            super().resume_reading()

    def listen(self) -> None:
        """Let bytes come although they are held, since behind them the client may have hung up."""
        super().resume_reading()

    def resume_writing(self) -> None:
        """Let answers be sent again, since the client has read what there was; or has gone."""
        super().resume_writing()
        self.forget()

    def keep(self, size: int) -> None:
        """Count bytes of an answer, all of which stay in memory until the last of them is sent."""
        self.size += size
        self._backlog.add(self, size)

    def look(self, unread: int, *, is_moving: bool) -> None:
        """Count at least what is unread, and know that the client reads, if slowly."""
        if is_moving:
            self._backlog.take(self, 0)
        if not unread:
            self.forget()
        elif unread > self.size:
            self.keep(unread - self.size)

    def forget(self) -> None:
        """Count nothing any more."""
        size, self.size = self.size, 0
        if size:
            self._backlog.take(self, size)

    def cut(self) -> None:
        """Send nothing more, and hang up."""
        self.forget()
        self._transport.abort()
