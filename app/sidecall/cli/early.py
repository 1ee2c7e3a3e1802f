"""End `sidecall serve` on SIGTERM while it still imports the rest, which takes most of a second.

To import this module is enough. Nothing happens in other programs, tools' authors' and worker processes among them.
"""

import signal
import sys

from sidecall.cli.project import is_program
from sidecall.serving.leaving import leave_on


def is_serve(command_line: list[str], arguments: int) -> bool:
    """Return whether Python was started to do `sidecall serve`, or `python -m sidecall serve`.

    Args:
        command_line: As it was, Python's own options included.
        arguments: How many of its last words are the program and what it was given.
    """
    return is_program(command_line, arguments) and command_line[-arguments:][1:2] == ["serve"]


if is_serve(sys.orig_argv, len(sys.argv)):
    leave_on(signal.SIGTERM)
