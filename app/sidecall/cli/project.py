"""Keep the working directory from shadowing the standard library.

`python -m` and `PYTHONPATH=.` put it first on the path. Importing this module is enough; it imports nothing that could
be shadowed, and does nothing in other programs.
"""

import os
import sys

from sidecall.loading.modules.import_path import is_on_path, put_project


def is_program(command_line: list[str], arguments: int) -> bool:
    """Return whether Python was started to run `sidecall`, or `python -m sidecall`.

    Args:
        command_line: As it was, Python's own options included.
        arguments: How many of its last words are the program and what it was given.
    """
    match command_line[-arguments:]:
        case [program, *_]:
            return os.path.basename(program) == "sidecall" or program.removeprefix("-m") == "sidecall"
    return False


if is_program(sys.orig_argv, len(sys.argv)) and is_on_path(os.getcwd()):
    put_project(os.getcwd())
