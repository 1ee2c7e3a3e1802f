"""What one command of a conversation leaves to the next: where it was, and its exported variables."""

import hashlib
import os
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

#: Bytes that a state may have; of a larger one nothing is kept.
MOST = 65_536
_KEPT_SECONDS = 86_400.0


class ShellState(NamedTuple):
    """Where the next command begins, and the lines that a shell reads first."""

    folder: bytes = b""
    variables: bytes = b""


class ShellStates:
    """Keeps the states of conversations in files that no sandbox sees, so that all workers of a server share them."""

    def __init__(self, folder: Path | None = None) -> None:
        """Keep them in this folder, else in one of this user's below that for temporary files."""
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
        self._sweep()

    def _place(self, directory: Path) -> Path:
        if self._folder is None:
            self._folder = _make_folder()
        return self._folder / hashlib.sha256(os.fsencode(directory)).hexdigest()

    def _sweep(self) -> None:
        """Remove what nobody has used for a day."""
        oldest = time.time() - _KEPT_SECONDS
        for place in [] if self._folder is None else self._folder.iterdir():
            with suppress(OSError):
                if place.stat().st_mtime < oldest:
                    place.unlink()


def _parse(body: bytes) -> ShellState:
    folder, found, variables = body.partition(b"\0")
    return ShellState(folder, variables) if found else ShellState()


def _make_folder() -> Path:
    """Make the folder of this user's states.

    Raises:
        PermissionError: Somebody else has made it.
    """
    place = Path(tempfile.gettempdir(), f"sidecall-shells-{os.geteuid()}")
    place.mkdir(mode=0o700, exist_ok=True)
    status = place.lstat()
    if status.st_uid != os.geteuid() or status.st_mode & 0o077 or place.is_symlink():
        raise PermissionError(f"{place} is not this server's alone")
    return place
