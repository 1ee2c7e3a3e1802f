"""The state that a command leaves to the next one of its conversation: directory and exported variables."""

import hashlib
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from sidecall.features.sandbox.shell_variables import read_exports, read_variables, write_variables

#: Maximum bytes of a state; a larger one is dropped.
MOST = 65_536


@dataclass(frozen=True, slots=True)
class ShellState:
    """The directory and the variables in which the next command begins."""

    folder: bytes = b""
    variables: Mapping[str, str] = field(default_factory=dict)


class ShellStates:
    """Keeps the states of conversations next to their files, outside of sandboxes, for all workers of a server."""

    def __init__(self, folder: Path | None = None) -> None:
        """Keep them in this folder; None: next to each directory, with which they are deleted."""
        self._folder = folder

    def read(self, directory: Path) -> ShellState:
        """Return the state that the last command in this directory left; an empty one if there is none."""
        with suppress(OSError):
            folder, found, variables = self._place(directory).read_bytes().partition(b"\0")
            return ShellState(folder, read_variables(variables)) if found else ShellState()
        return ShellState()

    def write(self, directory: Path, state: ShellState) -> None:
        """Keep a state."""
        place = self._place(directory)
        fd, path = tempfile.mkstemp(dir=place.parent)
        with os.fdopen(fd, "wb") as file:
            file.write(state.folder + b"\0" + write_variables(state.variables))
        os.replace(path, place)

    def forget(self, directory: Path) -> None:
        """Drop the state, so that the next command starts fresh."""
        self._place(directory).unlink(missing_ok=True)

    def _place(self, directory: Path) -> Path:
        if self._folder is None:
            return directory.with_name(f"{directory.name}.shell")
        return self._folder / hashlib.sha256(os.fsencode(directory)).hexdigest()


def read_saved(told: bytes) -> ShellState | None:
    """Read the state that a shell wrote when it ended; None if it is incomplete."""
    folder, ended_well, exports = told.partition(b"\0")
    if not ended_well or len(told) > MOST:
        return None
    return ShellState(folder, read_exports(exports))
