"""Let the bytes of a client come, or wait."""

from uvicorn.protocols.http.flow_control import FlowControl


class Flow(FlowControl):
    """Uvicorn's flow of bytes, which can be held: the application that waits for more then gets none."""

    is_held = False

    def resume_reading(self) -> None:
        """Let bytes come again, unless they are held."""
        if self.read_paused and not self.is_held:
            super().resume_reading()

    def listen(self) -> None:
        """Let bytes come although they are held, since behind them the client may have hung up."""
        super().resume_reading()
