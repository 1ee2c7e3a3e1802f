"""Shut down gracefully: uvicorn's server with its own end: drain, finish, cut off, exit.

On a signal uvicorn stops listening at once, waits for requests without limit or turns them into 500, and exits by that
signal. Here a load balancer has time to notice, every request gets an answer, and the exit code is 0. See
docs/lifecycle.md.
"""

import asyncio
import errno
import logging
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from types import FrameType

import uvicorn

from sidecall.features.telemetry.log_writer import exit_now, log_last
from sidecall.kernel.concurrency.event_loop import close_runner, run_steadily
from sidecall.kernel.lifecycle import Lifecycle, Patience
from sidecall.server.close_sockets import stop_listening, take_in
from sidecall.server.connection_limits import SWEEP, Connections, bound_unsent
from sidecall.server.request_reader import RequestRoom
from sidecall.server.signals import HANG_UP, START_AGAIN, ending_signals, on_reload
from sidecall.server.watchdog import Watchdog

logger = logging.getLogger("sidecall")

_TICK = 0.1
# Seconds for the first request of those that have just connected.
_TO_ASK = 1.0
# Seconds for what has to be quick: cancelled tools, the last bytes of answers, the stores, the interpreter.
_TO_CANCEL = 1.0

_TO_FLUSH = 1.0

_TO_CLOSE = 5.0

_TO_LEAVE = 1.5

# Those for what runs in workers whose supervisor is gone, and for all until they end: the next start needs their store.
_TO_FINISH_ALONE, _TO_END_ALONE = 2.0, 4.0

LAST_STEPS = _TO_FLUSH + _TO_CANCEL + _TO_FLUSH + _TO_CLOSE + _TO_LEAVE


def say_where(host: str, port: int) -> None:
    """Log which setting to change if the server cannot listen."""
    logger.error("cannot listen on %s, port %d; SIDECALL_HOST and SIDECALL_PORT (--host, --port) say where", host, port)


class Server(uvicorn.Server):
    """A server with an orderly shutdown."""

    def __init__(  # noqa: PLR0913  what a server is told once
        self,
        config: uvicorn.Config,
        lifecycle: Lifecycle,
        patience: Patience,
        max_connections: int,
        room: RequestRoom,
        on_started: Callable[[], object],
        *,
        is_worker: bool = False,
    ) -> None:
        """Prepare a server.

        Args:
            config: How to serve what.
            lifecycle: What the application is told of this server.
            patience: How long to wait for whom.
            max_connections: How many to take at once.
            room: What their requests and answers share.
            on_started: Called once it serves.
            is_worker: Whether a supervisor has started it.
        """
        super().__init__(config)
        self._on_started = on_started
        self._is_worker = is_worker
        self._lifecycle = lifecycle
        self._patience = patience
        self._connections = Connections(lifecycle, patience, max_connections, config.timeout_keep_alive, room)
        self.server_state = self._connections
        self._watchdog = Watchdog(patience.stuck_after, note=lifecycle.note_stuck)
        self._grace = patience.drain_grace
        self._is_told = False  # By a signal to end.
        self.exit_code = 0

    def run(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve on an event loop that tools cannot end."""
        runner = asyncio.Runner(loop_factory=self.config.get_loop_factory())
        loop = runner.get_loop()
        try:
            run_steadily(loop, loop.create_task(self.serve(sockets)))
        finally:
            with suppress(SystemExit, KeyboardInterrupt):  # Of what tools have left behind.
                # Steadily, since a stop that a tool has left behind would break off what the loop does next.
                run_steadily(loop, loop.create_task(loop.shutdown_default_executor()))
                close_runner(runner)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        try:
            await super().startup(sockets)
        except SystemExit:
            if not self.lifespan.should_exit:
                say_where(self.config.host, self.config.port)
                raise
            self.should_exit = True  # The application has logged why; the caller knows which exit code fits.
        except OSError:
            await self.lifespan.shutdown()
            raise
        if self.started:
            bound_unsent(sock for server in self.servers for sock in server.sockets or ())
            self._on_started()

    def _log_started_message(self, listeners: Sequence[socket.SocketType]) -> None:
        """Log the address, if it listens: asyncio skips sockets that fail for lack of files."""
        if not listeners:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        super()._log_started_message(listeners)

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve until a signal comes and everything is answered."""
        self._watchdog.start()
        peers = self._lifecycle.peers
        if peers is None:
            await super().serve(sockets)
            return
        await peers.open()
        try:
            await super().serve(sockets)
        finally:
            peers.close()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle signals like uvicorn, but do not raise them again afterwards: a requested shutdown is no failure."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in ending_signals()}
        on_reload(lambda: self._lifecycle.reload())
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002
        """Begin the shutdown; a second signal exits at once.

        Not in a worker, which may get each signal twice: from a terminal or systemd, and from its supervisor.
        """
        if self._is_told and not self._is_worker and sig != HANG_UP:
            log_last("ended at once by a second signal")
            exit_now(128 + sig)
        self._is_told = True
        if self._lifecycle.peers is not None and self._lifecycle.peers.are_left:
            self._hurry()
        elif not self.should_exit:
            # Ctrl+C comes from a desk, where no load balancer has to notice anything.
            self._begin_to_end(0.0 if sig == signal.SIGINT else self._patience.drain_grace)

    def _hurry(self) -> None:
        """End soon, also if the end has begun: without a supervisor nothing replaces a worker or kills a stuck one."""
        self._grace = 0.0
        self._patience = replace(self._patience, drain_timeout=min(self._patience.drain_timeout, _TO_FINISH_ALONE))
        self._lifecycle.hurry(self._patience.drain_timeout)
        self._watchdog.end_within(_TO_END_ALONE, code=1)
        self.should_exit = True

    def _begin_to_end(self, grace: float) -> None:
        self._grace = grace
        self._lifecycle.drain()
        self._watchdog.end_within(grace + self._patience.drain_timeout + LAST_STEPS, code=self.exit_code or 1)
        self.should_exit = True

    async def on_tick(self, counter: int) -> bool:
        """Run the periodic checks, ten times a second."""
        self._watchdog.beat()
        if counter % round(SWEEP / _TICK) == 0:
            self._connections.sweep(asyncio.get_running_loop().time())
        if self._lifecycle.failure is not None and not self.should_exit:
            self.exit_code = START_AGAIN
            logger.error(
                "the server ends with exit code %d, to be started again: %s", START_AGAIN, self._lifecycle.failure
            )
            self._begin_to_end(self._patience.drain_grace)
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Drain, finish, cut off the rest, and close."""
        logger.info(
            "Shutting down: still listening for %g s, then finishing for up to %g s; requests in flight: %d",
            self._grace,
            self._patience.drain_timeout,
            len(self._lifecycle.in_flight),
        )
        self._lifecycle.drain()
        for connection in self._connections.open:
            connection.discourage()
        await self._pass(self._grace, lambda: False)
        await stop_listening(self.servers, is_alone=not self._is_worker)
        for sock in sockets or []:
            sock.close()
        await self._finish()
        await self._close_connections()
        self._connections.complain()
        closing = asyncio.create_task(self.lifespan.shutdown())
        # Remembered calls may take the time that requests have left; nothing else may.
        left = self._lifecycle.patience(self._patience.drain_timeout)
        await self._pass(left, lambda: self._lifecycle.has_finished or closing.done())
        await self._pass(_TO_CLOSE, closing.done)
        if not closing.done():
            logger.warning("the application did not close in %g s", _TO_CLOSE)
        self._watchdog.rest()
        self._watchdog.end_within(_TO_LEAVE, code=self.exit_code)

    async def _finish(self) -> None:
        """Wait for requests in flight, and for those sent just before listening ended or on kept connections."""
        loop, quiet = asyncio.get_running_loop(), 0
        end = loop.time() + self._patience.drain_timeout

        def is_quiet() -> bool:
            nonlocal quiet
            quiet = 0 if self._lifecycle.in_flight else quiet + 1
            return quiet > 1

        await self._pass(min(_TO_ASK, self._patience.drain_timeout), lambda: not self._connections.has_coming)
        while True:
            await self._pass(end - loop.time(), is_quiet)
            await take_in(lambda: self._connections.idle_sockets)
            if not self._lifecycle.in_flight or loop.time() >= end:
                break
        if self._lifecycle.in_flight:
            await self._cut_off()

    async def _cut_off(self) -> None:
        left = set(self._lifecycle.in_flight)
        logger.warning(
            "not finished in %g s, and told to try again: requests in flight: %d",
            self._patience.drain_timeout,
            len(left),
        )
        answers = asyncio.gather(
            *(connection.interrupt() for connection in self._connections.open), return_exceptions=True
        )
        await self._pass(_TO_FLUSH, answers.done)
        # An answer that has begun, a stream, may still say why it ends.
        for task in left:
            task.cancel()
        await self._pass(_TO_CANCEL, lambda: all(task.done() for task in left))

    async def _close_connections(self) -> None:
        for connection in self._connections.open:
            connection.shutdown()
        await self._pass(_TO_FLUSH, lambda: not self._connections.connections)

    async def _pass(self, seconds: float, is_enough: Callable[[], bool]) -> None:
        """Wait for some seconds, or until it is enough, while everything continues."""
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        counter = 0
        while not is_enough() and (left := end - loop.time()) > 0:
            await asyncio.sleep(min(_TICK, left))
            counter += 1
            await self.on_tick(counter)
