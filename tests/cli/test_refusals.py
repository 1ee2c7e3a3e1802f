"""What the system refuses is one line, which says what to do about it."""

import errno
import os
from pathlib import Path

import pytest

from tests.cli.conftest import SidecallHere


@pytest.mark.parametrize("command", ["tools", "check"])
def test_a_folder_that_cannot_be_read_is_named(
    sidecall_here: SidecallHere, here: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """Without a traceback, no matter who asks; as root there is no such folder, so the system is played."""
    (here / "tools").mkdir()

    def refuse(path: Path) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    monkeypatch.setattr(Path, "iterdir", refuse)

    result = sidecall_here(command, "--tools", "tools")

    assert result.returncode == 1
    assert result.stderr == f"error: Permission denied: {here}/tools\n"
