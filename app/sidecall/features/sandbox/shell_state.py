"""The state that a command leaves to the next one of its conversation: directory and exported variables."""

import hashlib
import os
import re
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

#: Maximum bytes of a state; a larger one is dropped.
MOST = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellBounds:
    """The timeout of a command, and how much of its output is kept."""

    seconds: float = 30.0
    output: int = 65_536


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


_WORDS = re.compile(
    rb"(?:declare -[A-Za-z]+|export) (?P<name>[A-Za-z_][A-Za-z0-9_]*)="
    rb"""(?:\$'(?P<escaped>(?:[^'\\]|\\.)*)'|"(?P<double>(?:[^"\\]|\\.)*)"|(?P<single>'[^']*'(?:"'+"'[^']*'|'[^']*')*))$""",
    re.MULTILINE | re.DOTALL,
)

_ESCAPE = re.compile(rb"\\(?:([0-7]{1,3})|(.))", re.DOTALL)

_NAMED = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r", b"E": b"\x1b"}

_QUOTED = re.compile(rb"""'([^']*)'|"('+)\"""")
# Bubblewrap takes a few thousand arguments at most.
_MOST = 500
# Variables that each shell sets itself, and those that make it or the loader run something else first.
_OWN = frozenset(("PWD", "SHLVL", "_"))

_TURNING = frozenset(("BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "PS4", "IFS", "PROMPT_COMMAND", "POSIXLY_CORRECT"))

_TURNING_BEGINNINGS = ("LD_", "BASH_FUNC", "GLIBC_TUNABLES", "GCONV_PATH")


def read_exports(body: bytes) -> dict[str, str]:
    """Parse the output of `export -p`; lines that are no variables, or would run something, are left out."""
    found = {match["name"].decode(): os.fsdecode(_read_value(match)) for match in _WORDS.finditer(body)}
    kept = ((name, value) for name, value in found.items() if _is_carried(name) and "\0" not in value)
    return dict(islice(kept, _MOST))


def write_variables(variables: Mapping[str, str]) -> bytes:
    """Write variables down, each ended by a zero."""
    return b"".join(os.fsencode(f"{name}={value}\0") for name, value in variables.items())


def read_variables(body: bytes) -> dict[str, str]:
    """Read the output of `write_variables`."""
    pairs = (text.partition("=") for text in os.fsdecode(body).split("\0") if text)
    return {name: value for name, _, value in pairs}


def _is_carried(name: str) -> bool:
    return name not in _OWN and name not in _TURNING and not name.startswith(_TURNING_BEGINNINGS)


def _read_value(match: re.Match[bytes]) -> bytes:
    if match["escaped"] is not None:
        return _ESCAPE.sub(_unescape, match["escaped"])
    if match["double"] is not None:
        return re.sub(rb'\\([\\"$`])', rb"\1", match["double"])
    return b"".join(plain or quotes for plain, quotes in _QUOTED.findall(match["single"]))


def _unescape(match: re.Match[bytes]) -> bytes:
    if match[1] is not None:
        return bytes([int(match[1], 8) & 0xFF])
    return _NAMED.get(match[2], match[2])
