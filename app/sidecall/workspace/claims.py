"""The hold that a running call has on its workspace, which no worker then removes."""

import fcntl
import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from sidecall.workspace.removing import empty_folder, make_unfinished_name

FILES = "files"
_LEASE = "lease"
_MOST_TRIES = 10
_LEASE_BYTES = 200


class Span(NamedTuple):
    """When a workspace was made, and when it was last used (seconds since 1970).

    `idle` are the seconds without use after which it goes, where that was said of this one; `lasts` that it never does.
    """

    created: float
    active: float
    idle: float | None = None
    lasts: bool = False

    def find_end(self, idle: float, hard: float) -> float | None:
        """Return when it is removed if nobody uses it again, where most go after so many seconds; None: never."""
        if self.lasts:
            return None
        return min(self.active + (idle if self.idle is None else self.idle), self.created + hard)


class Claim:
    """The lease file of a workspace, locked by all calls that use it; it is given back when nothing refers to it."""

    def __init__(self, folder: Path, lease: int, is_passing: bool = False) -> None:
        """Keep what is locked already; `is_passing` says that the workspace goes with its call."""
        self.folder = folder
        self.is_passing = is_passing
        self._lease = lease

    def __del__(self) -> None:
        lease, self._lease = self._lease, -1
        if lease >= 0:
            os.close(lease)
        if self.is_passing:
            with suppress(OSError):
                discard(self.folder)

    @property
    def span(self) -> Span:
        """When it was made and last used."""
        return read_span(self._lease)

    def keep_for(self, idle: float | None) -> None:
        """Note after how many seconds without use this one goes; None: never."""
        said = {"created": self.span.created, **({"lasts": True} if idle is None else {"idle": idle})}
        # All of them as long as each other, so that nobody reads a part.
        os.pwrite(self._lease, json.dumps(said).ljust(_LEASE_BYTES).encode(), 0)

    def touch(self) -> None:
        """Note that it is used."""
        with suppress(OSError):
            os.utime(self._lease)

    def end(self) -> None:
        """Note that a call has ended; what goes with it goes now."""
        self.touch()
        if self.is_passing:
            self.is_passing = False
            with suppress(OSError):
                discard(self.folder)


def claim_folder(folder: Path, make: bool, is_passing: bool = False) -> Claim:
    """Claim the folder of a workspace, and make it where it is missing and that is asked for.

    Raises:
        FileNotFoundError: There is none.
        OSError: It cannot be made.
    """
    for _ in range(_MOST_TRIES):
        if make:
            (folder / FILES).mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            lease = os.open(folder / _LEASE, os.O_RDWR | os.O_CLOEXEC | (os.O_CREAT if make else 0), 0o600)
        except FileNotFoundError:
            if not make:
                raise
            continue  # It is being removed.
        fcntl.flock(lease, fcntl.LOCK_SH)
        if _is_same(lease, folder):
            if not os.fstat(lease).st_size:
                os.pwrite(lease, json.dumps({"created": time.time()}).ljust(_LEASE_BYTES).encode(), 0)
            return Claim(folder, lease, is_passing)
        os.close(lease)
    raise FileNotFoundError(f"The workspace {folder.name} is being removed again and again.")


def remove_if(folder: Path, idle: float, hard: float) -> bool:
    """Remove a workspace that nobody uses and that is older than either; return whether that was done."""
    try:
        lease = os.open(folder / _LEASE, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:  # A start that was interrupted, or it is gone.
        with suppress(OSError):
            if time.time() - folder.stat().st_mtime > idle:
                discard(folder)
                return True
        return False
    try:
        fcntl.flock(lease, fcntl.LOCK_EX | fcntl.LOCK_NB)
        ends = read_span(lease).find_end(idle, hard)
        if ends is None or time.time() <= ends:
            return False
        discard(folder)
    except BlockingIOError:  # Somebody uses it.
        return False
    finally:
        os.close(lease)
    return True


def discard(folder: Path) -> None:
    """Take a folder away at once and empty it, following no link.

    Raises:
        OSError: It is not there, or cannot be taken away.
    """
    aside = folder.with_name(make_unfinished_name())
    folder.rename(aside)
    clear(aside)


def clear(folder: Path) -> None:
    """Empty a folder and remove it; what cannot be removed now is left for the next time."""
    with suppress(OSError):
        top = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            empty_folder(top)
        finally:
            os.close(top)
        folder.rmdir()


def read_span(lease: int) -> Span:
    """Read from a lease file when its workspace was made and last used."""
    active = os.fstat(lease).st_mtime
    try:
        said = json.loads(os.pread(lease, 1000, 0))
        idle = said.get("idle")
        return Span(float(said["created"]), active, None if idle is None else float(idle), said.get("lasts") is True)
    except (ValueError, KeyError, TypeError, AttributeError):
        return Span(active, active)


def _is_same(lease: int, folder: Path) -> bool:
    """Return whether a locked file is still the lease of the folder."""
    try:
        return os.path.samestat(os.fstat(lease), os.stat(folder / _LEASE))
    except FileNotFoundError:
        return False
