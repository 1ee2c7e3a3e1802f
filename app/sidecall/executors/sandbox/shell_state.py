"""What one command of a conversation leaves to the next: where it was, and its exported variables."""

import hashlib
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

#: Bytes that a state may have; of a larger one nothing is kept.
MOST = 65_536


class ShellState(NamedTuple):
    """Where the next command begins, and the lines that a shell reads first."""

    folder: bytes = b""
    variables: bytes = b""


class ShellStates:
    """Keeps the states of conversations beside their files, where no sandbox sees them, and all workers of a server."""

    def __init__(self, folder: Path | None = None) -> None:
        """Keep them in this folder, else beside each directory, with which they go."""
        self._folder = folder

    def read(self, directory: Path) -> ShellState:
        """Return the state that the last command in this directory left; an empty one where there is none."""
        with suppress(OSError):
            return _parse(self._place(directory).read_bytes())
        return ShellState()

    def write(self, directory: Path, body: bytes) -> None:
        """Keep what a command has said of its state, if it is whole."""
        if b"\0" not in body or len(body) > MOST:
            return
        place = self._place(directory)
        fd, path = tempfile.mkstemp(dir=place.parent)
        with os.fdopen(fd, "wb") as file:
            file.write(body)
        os.replace(path, place)

    def forget(self, directory: Path) -> None:
        """Let the next command begin anew."""
        self._place(directory).unlink(missing_ok=True)

    def _place(self, directory: Path) -> Path:
        if self._folder is None:
            return directory.with_name(f"{directory.name}.shell")
        return self._folder / hashlib.sha256(os.fsencode(directory)).hexdigest()


def _parse(body: bytes) -> ShellState:
    folder, found, variables = body.partition(b"\0")
    return ShellState(folder, variables) if found else ShellState()
