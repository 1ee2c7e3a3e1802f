"""The supervisor's view of the process that writes a SQLite file for all workers."""

import logging
import socket
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path

from sidecall.kernel.concurrency.descendants import describe_end
from sidecall.storage.sqlite.backends import TELL_END, start_process
from sidecall.storage.sqlite.opened_file import FileId, read_id
from sidecall.storage.sqlite.tables import DatabaseRole

logger = logging.getLogger("sidecall")

_FOR_WORKERS = "write_for_workers"
# Seconds for which it waits for locks of other programs.
_PATIENCE = 2.0
# Seconds between the end of a process and its successor, which are doubled where that ends soon, too.
_PAUSE = 0.5
_LONG_PAUSE = 5.0
_SOON = 10.0
_SECONDS_TO_END = 5.0
# Bytes of what a process says that it has opened.
_LONGEST = 128


class SharedWriter:
    """Runs a process that writes a file for workers, and replaces one that ends."""

    def __init__(self, path: Path, purpose: DatabaseRole) -> None:
        """Set the file; `socket` is for the workers to connect."""
        self._path = path
        self._purpose = purpose
        # Who asks waits there for the next process where one has ended.
        self.socket, self._inside = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._process: subprocess.Popen[bytes] | None = None
        self._known: FileId | None = None
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="sidecall-writer", daemon=True)

    def open(self) -> None:
        """Start the process."""
        self._thread.start()

    def close(self) -> None:
        """Let the process write the queue and end; no more orders are accepted."""
        with self._lock:
            self._closing.set()
            process = self._process
        with suppress(OSError):
            self.socket.send(b"", socket.MSG_DONTWAIT)
        if process is not None:
            try:
                process.wait(_SECONDS_TO_END)
            except subprocess.TimeoutExpired:
                process.kill()
        self._thread.join(_SECONDS_TO_END)
        self.socket.close()
        self._inside.close()

    def _keep(self) -> None:
        pause, last = _PAUSE / 2, 0
        while not self._closing.is_set():
            began = time.monotonic()
            code = 0 if (process := self._start()) is None else process.wait()
            is_soon = time.monotonic() - began <= _SOON
            if code and not self._closing.is_set() and not (is_soon and code == last):
                logger.error(TELL_END, self._path, describe_end(code))
            pause, last = min(2 * pause, _LONG_PAUSE) if is_soon else _PAUSE, code
            self._closing.wait(pause)

    def _start(self) -> subprocess.Popen[bytes] | None:
        with self._lock:
            if self._closing.is_set():
                return None
            self._hear()
            try:
                self._process = start_process(
                    _FOR_WORKERS, self._purpose, self._path, _PATIENCE, self._inside, self._known
                )
            except OSError as error:
                logger.error("%s: no process can be started that writes it (%s).", self._path, error)
                self._process = None
            return self._process

    def _hear(self) -> None:
        """Read which file the last process has opened, which it says where workers are heard."""
        with suppress(BlockingIOError):
            while said := self.socket.recv(_LONGEST, socket.MSG_DONTWAIT):
                self._known = read_id(said.decode())
