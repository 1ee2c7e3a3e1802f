"""Prepare the process for `sidecall serve`: open standard streams, exit on signals.

In all commands it skips an import of a command line that is not needed, and keeps the garbage collector from the rest.
It takes most of a second, and anything they open would get the first free descriptor. Importing this module is
enough. It does nothing in other programs, such as tools' authors' and worker processes.
"""

import gc
import os
import signal
import sys

from sidecall.cli.project import is_program
from sidecall.server.signals import INTERRUPTED, leave_on, on_reload


def is_serve(command_line: list[str], arguments: int) -> bool:
    """Return whether Python was started to run `sidecall serve`, or `python -m sidecall serve`.

    Args:
        command_line: As it was, Python's own options included.
        arguments: How many of its last words are the program and what it was given.
    """
    return is_program(command_line, arguments) and command_line[-arguments:][1:2] == ["serve"]


def open_closed_streams() -> None:
    """Open the null device for closed standard streams, so that no connection gets what is printed."""
    for fd, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # Those before it are open, so this is the first that is free.
            os.set_inheritable(fd, True)
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(fd, mode, closefd=False))


def leave_out_commands() -> None:
    """Import HTTPX without its command line, as if its requirements were not installed."""
    sys.modules["httpx._main"] = None  # type: ignore[assignment]  # so Python is told that there is no such module


if is_program(sys.orig_argv, len(sys.argv)):
    leave_out_commands()
    # What is imported stays: to look through it for garbage takes a fifth of the time. Commands begin with that again.
    gc.disable()
if is_serve(sys.orig_argv, len(sys.argv)):
    open_closed_streams()
    leave_on(signal.SIGTERM)
    leave_on(signal.SIGINT, code=INTERRUPTED)
    on_reload()
