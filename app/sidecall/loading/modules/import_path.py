"""Put the project's modules on the import path; imports nothing that a project could shadow."""

import os
import sys


def put_project(folder: str) -> None:
    """Make a folder's modules importable, after the standard library and before installed packages.

    So a project's `app` is its own, even if an installed package has one, and its `secrets.py` does not replace
    Python's.
    """
    sys.path[:] = [entry for entry in sys.path if not _is(entry, folder)]
    sys.path.insert(_end_of_library(), folder)


def is_on_path(folder: str) -> bool:
    """Return whether modules of this folder can be imported."""
    return any(_is(entry, folder) for entry in sys.path)


def _is(entry: str, folder: str) -> bool:
    # Python writes the empty text for the working directory.
    return entry == folder or (entry == "" and folder == os.getcwd())


def _end_of_library() -> int:
    library = os.path.dirname(os.__file__)
    ends = [
        index for index, entry in enumerate(sys.path, 1) if entry == library or os.path.basename(entry) == "lib-dynload"
    ]
    return max(ends, default=0)
