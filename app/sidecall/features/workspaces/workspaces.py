"""The workspaces of all conversations: found by tenant and conversation, and removed when they expire."""

import asyncio
import hashlib
import logging
import os
import secrets
import shutil
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from msgspec import Struct

from sidecall.features.workspaces.claims import Claim, claim_folder, clear_unused, remove_if
from sidecall.features.workspaces.limits import Counts, WorkspaceLimits
from sidecall.features.workspaces.paths import UNFINISHED, refuse_folder, refuse_removed
from sidecall.features.workspaces.workspace import Workspace
from sidecall.kernel.concurrency.pools import CLEARING
from sidecall.kernel.ports.file_errors import TooManyWorkspaces

logger = logging.getLogger("sidecall")

_NO_ALLOWANCE = WorkspaceLimits()
# Attempts to make a workspace that is removed while it is opened.
_MOST_TRIES = 100


class Expiry(Struct, frozen=True):
    """Seconds until a workspace is removed: without use, and in any case."""

    idle: float = 20 * 60.0
    hard: float = 24 * 3600.0


_NO_EXPIRY = Expiry()


class WorkspaceCount(Struct, frozen=True):
    """The number of workspaces, their bytes on disk, and the free bytes there, where known."""

    kept: int
    disk_bytes: int | None = None
    free_bytes: int | None = None


class Workspaces:
    """The workspaces in one folder, which several processes may share."""

    def __init__(
        self, root: Path, allowance: WorkspaceLimits = _NO_ALLOWANCE, expiry: Expiry = _NO_EXPIRY, most: int = 1000
    ) -> None:
        """Take a folder, which is made on first use, and the maximum number of workspaces."""
        self.most = most
        self.root = root.absolute()
        self.allowance = allowance
        self.expiry = expiry
        self.trouble: str | None = None
        self._counts = Counts()

    def open(self, tenant: str, conversation: str | None, *, lasts: bool = False) -> Workspace:
        """Open the workspace of a tenant's conversation, or make it.

        Without a conversation it is a temporary one, removed when its call ends. One that is made to last does not
        expire.

        Raises:
            TooManyWorkspaces: The maximum number is reached.
            WorkspaceError: The folder cannot be written, which `trouble` says until it can.
        """
        try:
            opened = self._find_or_make(tenant, conversation, lasts)
        except OSError as error:
            self._note(error)
            raise refuse_folder(error) from error
        if self.trouble is not None:
            self.trouble = None
            logger.info("files of conversations can be written again")
        return opened

    def _find_or_make(self, tenant: str, conversation: str | None, lasts: bool) -> Workspace:
        if conversation is None:
            self._require_room()
            return self._open(self.root / f"call-{secrets.token_hex(16)}", make=True, is_passing=True)
        folder = self._place(tenant, conversation)
        remove_if(folder, self.expiry.idle, self.expiry.hard)
        if not folder.exists():
            self._require_room()
        return self._open(folder, make=True, lasts=lasts)

    def find(self, tenant: str, conversation: str) -> Workspace | None:
        """Open the workspace of a tenant's conversation, if there is one.

        Raises:
            WorkspaceError: It is removed and made again repeatedly.
        """
        folder = self._place(tenant, conversation)
        remove_if(folder, self.expiry.idle, self.expiry.hard)
        try:
            return self._open(folder, make=False)
        except FileNotFoundError:
            return None

    def end(self, workspace: Workspace) -> None:
        """Note that a call that had this workspace has ended."""
        claim = workspace.claim
        if isinstance(claim, Claim):
            claim.end()

    def remove(self, tenant: str, conversation: str) -> bool:
        """Remove a workspace before it expires; return whether there was one.

        It can no longer be found. Calls that use it go on with its files, which are deleted after the last of them.
        """
        with suppress(FileNotFoundError):
            return claim_folder(self._place(tenant, conversation), make=False).set_aside()
        return False

    def sweep(self) -> int:
        """Remove expired workspaces, and remains of others; return their number."""
        removed = 0
        with suppress(FileNotFoundError):
            for folder in list(self.root.iterdir()):
                if folder.name.startswith(UNFINISHED):
                    clear_unused(folder)
                else:
                    removed += remove_if(folder, self.expiry.idle, self.expiry.hard)
        return removed

    def measure(self) -> WorkspaceCount:
        """Count the workspaces, and measure the free room of their disk; the folder may not exist yet."""
        kept = 0
        with suppress(OSError):
            kept = _count(os.listdir(self.root))
        place = next((folder for folder in (self.root, *self.root.parents) if folder.is_dir()), self.root)
        try:
            disk = shutil.disk_usage(place)
        except OSError:
            return WorkspaceCount(kept)
        return WorkspaceCount(kept, disk.total, disk.free)

    def _note(self, error: OSError) -> None:
        trouble = f"{self.root} cannot be written: {error.strerror or error}."
        if trouble != self.trouble:
            logger.error("files of conversations: %s Make room there, or see to SIDECALL_WORKSPACE_DIR", trouble)
        self.trouble = trouble

    def _require_room(self) -> None:
        with suppress(FileNotFoundError):
            names = os.listdir(self.root)
            if len(names) >= self.most and _count(names) >= self.most:
                raise TooManyWorkspaces

    def _open(self, folder: Path, make: bool, *, is_passing: bool = False, lasts: bool = False) -> Workspace:
        for _ in range(_MOST_TRIES):
            claim = claim_folder(folder, make, is_passing, lasts)
            claim.touch()
            try:
                opened = Workspace(claim.files, self.allowance, claim, self._counts)
            except FileNotFoundError:
                if claim.is_in_place():
                    raise
                continue
            if claim.is_in_place():
                return opened
        raise refuse_removed()

    def _place(self, tenant: str, conversation: str) -> Path:
        # Hashed, so that no name leads to another path, and names of all lengths and characters are distinct.
        return self.root / hashlib.sha256(f"{len(tenant)}:{tenant}:{conversation}".encode()).hexdigest()


def _count(names: Sequence[str]) -> int:
    return sum(not name.startswith(UNFINISHED) for name in names)


class TemporaryWorkspaces:
    """Temporary workspaces, each for one call, for programs without a server."""

    def open(self, tenant: str, conversation: str | None, *, lasts: bool = False) -> Workspace:  # noqa: ARG002  there are no conversations
        """Make one; it is removed when nothing refers to it."""
        made = tempfile.TemporaryDirectory(prefix="sidecall-")
        return Workspace(Path(made.name), claim=made)

    def end(self, workspace: Workspace) -> None:
        """Remove it."""
        if isinstance(workspace.claim, tempfile.TemporaryDirectory):
            workspace.claim.cleanup()


_EVERY = 60.0


@asynccontextmanager
async def sweeping(places: Workspaces) -> AsyncIterator[None]:
    """Remove expired workspaces now, and every minute while the body runs."""
    task = asyncio.create_task(_sweep_on(places))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _sweep_on(places: Workspaces) -> None:
    while True:
        try:
            if places.root.is_dir():  # Most servers have none, and need no thread for it.
                logger.debug("%s workspaces removed", await CLEARING.run(places.sweep))
        except OSError as error:  # The folder above it may belong to another user, for now.
            logger.warning("workspaces cannot be removed: %s", error)
        await asyncio.sleep(_EVERY)
