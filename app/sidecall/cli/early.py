"""Do first what `sidecall serve` needs: open standard streams, an end on SIGTERM and Ctrl+C, a patient collector.

And leave out what a package would load for a command of its own.

The rest of its imports takes most of a second, and whatever is opened takes the first descriptor that is free.

To import this module is enough. Nothing happens in other programs, tools' authors' and worker processes among them.
"""

import gc
import os
import signal
import sys

from sidecall.cli.project import is_program
from sidecall.server.signals import INTERRUPTED, leave_on


def is_serve(command_line: list[str], arguments: int) -> bool:
    """Return whether Python was started to do `sidecall serve`, or `python -m sidecall serve`.

    Args:
        command_line: As it was, Python's own options included.
        arguments: How many of its last words are the program and what it was given.
    """
    return is_program(command_line, arguments) and command_line[-arguments:][1:2] == ["serve"]


def open_closed_streams() -> None:
    """Put the null device where a standard stream was closed, so that no connection gets what is printed."""
    for fd, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # Those before it are open, so this is the first that is free.
            os.set_inheritable(fd, True)
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(fd, mode, closefd=False))


def leave_out_commands() -> None:
    """Have HTTPX begin without its own command line, as it does where what that needs is not installed."""
    sys.modules["httpx._main"] = None  # type: ignore[assignment]  # so Python is told that there is no such module


if is_serve(sys.orig_argv, len(sys.argv)):
    # What is imported stays: to look through it for garbage takes a fifth of the start. `serve` begins with that again.
    gc.disable()
    open_closed_streams()
    leave_out_commands()
    leave_on(signal.SIGTERM)
    leave_on(signal.SIGINT, code=INTERRUPTED)
