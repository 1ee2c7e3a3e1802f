"""Change a file that several programs use: none reads half of it, and no change is lost."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def hold_alone(path: Path) -> Iterator[None]:
    """Wait for an exclusive lock to change the file; its folder is locked, since the file is replaced."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def replace_text(path: Path, text: str, mode: int = 0o666) -> None:
    """Replace a file atomically by one with this text; `mode` is reduced by the umask."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)
