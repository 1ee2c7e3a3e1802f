"""Forward the output of tool processes, so that a slow reader of the server's log never blocks them."""

import os
import sys
import threading

# Characters of a line that are passed on together.
_LINE = 65_536
# Seconds that the end of the processes waits for the last of what they have printed.
_PATIENCE = 1.0


class PrintedLines:
    """A pipe for the output of processes; a thread forwards its lines to this process's log."""

    def __init__(self) -> None:
        read, self.fd = os.pipe()
        self._thread = threading.Thread(target=_pass_on, args=(read,), name="sidecall-printed", daemon=True)
        self._thread.start()

    def __enter__(self) -> None:
        """Open the pipe for child processes."""

    def __exit__(self, *_: object) -> None:
        """Close this end of the pipe; child processes keep theirs."""
        os.close(self.fd)

    def wait(self) -> None:
        """Wait until all output is forwarded, once those processes have ended."""
        self._thread.join(_PATIENCE)


def _pass_on(fd: int) -> None:
    with open(fd, errors="backslashreplace") as pipe:
        while line := pipe.readline(_LINE):
            sys.stderr.write(line)
            sys.stderr.flush()
