"""A program that kills an MCP server's processes if this server is killed.

Its input is a pipe from the server: a line `+123` adds the leader of a process group, `-123` removes one that has
ended. The pipe ends with the server; the remaining groups get a moment to see that their own input has ended too. It
imports nothing of the package, so that it starts at once and stays small.
"""

import os
import signal
import sys
import time
from contextlib import suppress

# Seconds for ending by itself, and after SIGTERM.
_GRACE = 1.0
_LOOK = 0.05


def guard() -> None:
    """Read process ids until the pipe closes, then kill those that are left."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    groups: set[int] = set()
    for line in sys.stdin:
        change = groups.add if line[0] == "+" else groups.discard
        change(int(line[1:]))
    for signal_number in (0, signal.SIGTERM, signal.SIGKILL):
        groups = _send(groups, signal_number)
        end = time.monotonic() + _GRACE
        while groups and time.monotonic() < end:
            time.sleep(_LOOK)
            groups = _send(groups, 0)


def _send(groups: set[int], number: int) -> set[int]:
    """Send a signal to groups of processes, and return those that are there."""
    left = set()
    for group in groups:
        with suppress(OSError):
            os.killpg(group, number)
            left.add(group)
    return left


if __name__ == "__main__":
    guard()
