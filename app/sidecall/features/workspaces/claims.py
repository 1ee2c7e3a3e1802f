"""Claims of running calls on a workspace, which keep workers from removing it."""

import asyncio
import fcntl
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from sidecall.features.workspaces.paths import NO_ROOM, UNFINISHED, refuse_removed
from sidecall.features.workspaces.writing import empty_folder, make_unfinished_name

FILES = "files"
_LEASE = "lease"
# The lock for changes next to the files, and for removal.
_TURN = "turn"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_MOST_TRIES = 100
_LEASE_BYTES = 200


class Lifetime(NamedTuple):
    """When a workspace was made and last used (seconds since 1970).

    `idle` is its own time in seconds until removal without use, if set; `lasts` means that it is never removed.
    """

    created: float
    active: float
    idle: float | None = None
    lasts: bool = False

    def find_end(self, idle: float, hard: float) -> float | None:
        """Return when it is removed if it is not used again, given the default number of seconds; None: never."""
        if self.lasts:
            return None
        return min(self.active + (idle if self.idle is None else self.idle), self.created + hard)


class Claim:
    """The lease file of a workspace, locked by all calls that use it, and released with its last reference.

    A workspace that is removed while in use is set aside, where its users continue; the last one clears it.

    Attributes:
        is_passing: Whether it is removed with its call.
    """

    def __init__(self, place: Path, lease: int) -> None:
        """Keep an open lease, which is locked next."""
        self.is_passing = False
        self._place = place
        self._lease = lease

    def __del__(self) -> None:
        lease, self._lease = self._lease, -1
        with suppress(OSError):
            if lease >= 0:
                status = os.fstat(lease)
                # Released first: a process that sets it aside after this check finds no user, and clears it itself.
                os.close(lease)
                if not _is_lease(status, self._place):
                    _clear_off_loop(clear_unused, _name_aside(status, self._place))
            if self.is_passing:
                _clear_off_loop(discard, self._place)

    @property
    def folder(self) -> Path:
        """The folder of the workspace: in its place, or aside once it was removed."""
        return self._place if self.is_in_place() else _name_aside(os.fstat(self._lease), self._place)

    @property
    def files(self) -> Path:
        """The folder of its files."""
        return self.folder / FILES

    def is_in_place(self) -> bool:
        """Return whether it has not been removed."""
        return _is_lease(os.fstat(self._lease), self._place)

    def set_aside(self) -> bool:
        """Remove it for all later look-ups; return whether this call did so."""
        try:
            place = os.open(self._place, _FOLDER)
        except FileNotFoundError:
            return False
        try:
            with locking(place):
                if not self.is_in_place():
                    return False
                aside = _name_aside(os.fstat(self._lease), self._place)
                clear(aside)  # What an interrupted removal has left there has no lease.
                self._place.rename(aside)
        finally:
            os.close(place)
        return True

    @property
    def span(self) -> Lifetime:
        """When it was made and last used."""
        return read_span(self._lease)

    def keep_for(self, idle: float | None) -> None:
        """Set the seconds without use until removal; None: never."""
        said = {"created": self.span.created, **({"lasts": True} if idle is None else {"idle": idle})}
        # All of the same length, so that no reader sees a part.
        os.pwrite(self._lease, json.dumps(said).ljust(_LEASE_BYTES).encode(), 0)

    def touch(self) -> None:
        """Note that it is used."""
        with suppress(OSError):
            os.utime(self._lease)

    def end(self) -> None:
        """Note that a call has ended; a temporary workspace is removed."""
        self.touch()
        if self.is_passing:
            self.is_passing = False
            with suppress(OSError):
                discard(self._place)


def _clear_off_loop(clearing: Callable[[Path], None], folder: Path) -> None:
    """Clear a folder, in a thread where it would block an event loop: there may be many files."""

    def run() -> None:
        with suppress(OSError):
            clearing(folder)

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        run()
        return
    with suppress(RuntimeError):  # The program is ending; the next sweep clears it.
        threading.Thread(target=run, name="sidecall-clearing").start()


@contextmanager
def locking(folder: int) -> Iterator[None]:
    """Lock the records next to a workspace's files, given a descriptor of its folder.

    Raises:
        OSError: The folder cannot be written.
    """
    try:
        turn = os.open(_TURN, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=folder)
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        turn = os.dup(folder)  # Clearing must work on a full disk too; not every disk supports locking a folder.
    try:
        fcntl.flock(turn, fcntl.LOCK_EX)
        yield
    finally:
        os.close(turn)


def claim_folder(folder: Path, make: bool, is_passing: bool = False, lasts: bool = False) -> Claim:
    """Claim the folder of a workspace; `make` a missing one, which `lasts` or not.

    Raises:
        FileNotFoundError: It is missing.
        WorkspaceError: It is removed each time it is made.
        OSError: It cannot be made.
    """
    for _ in range(_MOST_TRIES):
        lease = _open_lease(folder, make)
        if lease is None:
            continue  # It is being removed.
        claim = Claim(folder, lease)
        fcntl.flock(lease, fcntl.LOCK_SH)
        if claim.is_in_place():
            if not os.fstat(lease).st_size:
                said = {"created": time.time(), **({"lasts": True} if lasts else {})}
                os.pwrite(lease, json.dumps(said).ljust(_LEASE_BYTES).encode(), 0)
            claim.is_passing = is_passing
            return claim
    raise refuse_removed()


def _open_lease(folder: Path, make: bool) -> int | None:
    """Open the lease of a workspace; None if it is removed while it is made."""
    flags = os.O_RDWR | os.O_CLOEXEC
    if not make:
        return os.open(folder / _LEASE, flags)
    try:
        (folder / FILES).mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.open(folder / _LEASE, flags | os.O_CREAT, 0o600)
    except FileNotFoundError:
        if not folder.parent.is_dir():  # No workspace can be there.
            raise
    except FileExistsError:
        if folder.joinpath(FILES).exists() and not folder.joinpath(FILES).is_dir():
            raise
    return None


def remove_if(folder: Path, idle: float, hard: float) -> bool:
    """Remove an unused workspace that is older than either limit; return whether it was removed."""
    try:
        lease = os.open(folder / _LEASE, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:  # An interrupted creation, or it is gone.
        with suppress(OSError):
            if time.time() - folder.stat().st_mtime > idle:
                discard(folder)
                return True
        return False
    claim = Claim(folder, lease)
    with suppress(BlockingIOError):  # It is in use.
        fcntl.flock(lease, fcntl.LOCK_EX | fcntl.LOCK_NB)
        ends = claim.span.find_end(idle, hard)
        return ends is not None and time.time() > ends and claim.set_aside()
    return False


def discard(folder: Path) -> None:
    """Move a folder away at once, then empty it without following links.

    Raises:
        OSError: It is missing, or cannot be moved.
    """
    aside = folder.with_name(make_unfinished_name())
    folder.rename(aside)
    clear(aside)


def clear_unused(aside: Path) -> None:
    """Clear a workspace that was set aside, unless it is still in use."""
    with suppress(FileNotFoundError, BlockingIOError):
        try:
            lease = os.open(aside / _LEASE, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            clear(aside)
            return
        try:
            fcntl.flock(lease, fcntl.LOCK_EX | fcntl.LOCK_NB)
            clear(aside)
        finally:
            os.close(lease)


def clear(folder: Path) -> None:
    """Empty a folder and remove it; what cannot be removed now is left for the next sweep."""
    with suppress(OSError):
        top = os.open(folder, _FOLDER)
        try:
            empty_folder(top)
        finally:
            os.close(top)
        folder.rmdir()


def read_span(lease: int) -> Lifetime:
    """Read from a lease file when its workspace was made and last used."""
    active = os.fstat(lease).st_mtime
    try:
        said = json.loads(os.pread(lease, 1000, 0))
        idle = said.get("idle")
        return Lifetime(
            float(said["created"]), active, None if idle is None else float(idle), said.get("lasts") is True
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return Lifetime(active, active)


def _is_lease(status: os.stat_result, folder: Path) -> bool:
    """Return whether a locked file is still the lease of the folder."""
    try:
        return os.path.samestat(status, os.stat(folder / _LEASE))
    except FileNotFoundError:
        return False


def _name_aside(status: os.stat_result, place: Path) -> Path:
    """Return the path of a workspace that is set aside, which its users know by its lease."""
    return place.with_name(f"{UNFINISHED}{status.st_dev:x}-{status.st_ino:x}")
