"""Start the reaper program, and send it the process groups to kill."""

import subprocess
import sys
from contextlib import suppress
from pathlib import Path

_PROGRAM = Path(__file__).with_name("process_reaper.py")
_PATIENCE = 5.0


class ProcessReaper:
    """Tracks the process groups that this process has started; the reaper runs from the first one on."""

    def __init__(self) -> None:
        self._program: subprocess.Popen[bytes] | None = None
        self._groups: set[int] = set()

    def add(self, group: int) -> None:
        """Kill a group if this process is killed."""
        self._groups.add(group)
        if self._program is None or self._program.poll() is not None:
            self._start()
        else:
            self._write(f"+{group}\n")

    def discard(self, group: int) -> None:
        """Forget a group that has ended."""
        self._groups.discard(group)
        self._write(f"-{group}\n")

    def close(self) -> None:
        """End the reaper when all groups have ended; it kills those that have not."""
        program, self._program = self._program, None
        if program is None or program.stdin is None:
            return
        with suppress(OSError):
            program.stdin.close()
        program.wait(_PATIENCE)

    def _start(self) -> None:
        self.close()
        # In its own session, so that signals to this process's group do not reach it.
        self._program = subprocess.Popen(  # noqa: S603  the command is our own
            [sys.executable, "-I", "-S", str(_PROGRAM)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env={},
        )
        for group in self._groups:
            self._write(f"+{group}\n")

    def _write(self, line: str) -> None:
        if self._program is not None and self._program.stdin is not None:
            with suppress(OSError):
                self._program.stdin.write(line.encode())
                self._program.stdin.flush()
