"""The folder of a workspace, open while it is used."""

import os
from pathlib import Path
from typing import Self

from sidecall.features.workspaces.safe_open import open_root


class ClaimedFolder:
    """A folder that stays open even if it is moved.

    Attributes:
        claim: The claim that keeps it from being cleared.
        root_fd: Its descriptor.
    """

    def __init__(self, directory: Path, claim: object) -> None:
        """Open a folder that is there."""
        self.claim = claim
        self._directory = directory
        self.root_fd = open_root(directory)

    @property
    def directory(self) -> Path:
        """The folder on this machine, for mounting it into a sandbox only; it moves when the workspace is removed."""
        return getattr(self.claim, "files", self._directory)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close its descriptor; it cannot be used afterwards."""
        root, self.root_fd = getattr(self, "root_fd", -1), -1
        if root >= 0:
            os.close(root)

    __del__ = close
