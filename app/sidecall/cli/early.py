"""Let `sidecall serve` end on SIGTERM while it still imports the rest, which takes most of a second.

To import this is enough. Nothing happens in other programs, tools' authors' and worker processes among them.
"""

import os
import signal
import sys

from sidecall.serving.leaving import leave_on


def is_serve(command_line: list[str], arguments: int) -> bool:
    """Tell whether Python was started to do `sidecall serve`, or `python -m sidecall serve`.

    Args:
        command_line: As it was, Python's own options included.
        arguments: How many of its last words are the program and what it was given.
    """
    match command_line[-arguments:]:
        case [program, "serve", *_]:
            return os.path.basename(program) == "sidecall" or program.removeprefix("-m") == "sidecall"
    return False


if is_serve(sys.orig_argv, len(sys.argv)):
    leave_on(signal.SIGTERM)
