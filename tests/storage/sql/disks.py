"""A disk that is soon full, and files that nobody may change."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """Give a disk of three megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root may mount")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def fill_up(disk: Path) -> Path:
    """Take all the room there is on it, and return the file that does."""
    ballast = disk / "ballast"
    with pytest.raises(OSError, match="No space left"):
        ballast.write_bytes(b"x" * 4_000_000)
    return ballast


@contextmanager
def freezing(files: list[Path]) -> Iterator[None]:
    """Forbid all changes of these files, also by root and by programs that have opened them."""
    chattr = shutil.which("chattr")
    if chattr is None or subprocess.run([chattr, "+i", *files], capture_output=True, check=False).returncode:
        pytest.skip("only root may make files immutable, and not on every disk")
    try:
        yield
    finally:
        subprocess.run([chattr, "-i", *files], check=True)
