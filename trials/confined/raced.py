"""Open files of a workspace while another process swaps a folder on the way for a link that leads out."""

import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from sidecall.features.workspaces import paths as opening
from sidecall.features.workspaces.paths import WorkspaceError
from sidecall.features.workspaces.workspace import Workspace
from trials.confined import exchanging
from trials.finding import Finding

_SECRET = b"outside"
_TIMES = 100_000
_SHORT_TIMES = 3_000


def run() -> Iterator[Finding]:
    """Race as often as the bar says, by each way of opening."""
    for opener in (opening.open_at_once, opening.open_stepwise):
        yield _race(opener, _TIMES)


def run_shortly() -> Iterator[Finding]:
    """Race for a second."""
    yield _race(opening.choose_opener(), _SHORT_TIMES)


def _race(opener: opening.Opener, times: int) -> Finding:
    with tempfile.TemporaryDirectory() as made:
        place = Path(made)
        inside = place / "inside"
        for folder, content in ((inside / "sub", b"inside"), (place / "outside", _SECRET)):
            folder.mkdir(parents=True)
            (folder / "file").write_bytes(content)
        (inside / "link").symlink_to("../outside")
        program = [sys.executable, exchanging.__file__, str(inside), "sub", "link", "stop"]
        with subprocess.Popen(program) as other, Workspace(inside) as workspace:
            workspace._opener = opener
            begun = time.perf_counter()
            try:
                found = _use(workspace, times)
            finally:
                (inside / "stop").touch()
            seconds = time.perf_counter() - begun
        written = (place / "outside/file").read_bytes()
        names = sorted(it.name for it in (place / "outside").iterdir())
    is_kept = written == _SECRET and names == ["file"] and other.returncode == 0
    met = ", ".join(f"{count:,} {what}" for what, count in sorted(found.items()))
    return Finding(
        "paths",
        f"{times:,} raced opens, {opener.__name__.replace('_', ' ')}",
        "0 leaks, and both the folder and the link were met",
        f"{found['leaked']} leaks; {met}; {seconds / times * 1e6:.0f} µs each",
        is_kept and not found["leaked"] and bool(found["read"]) and bool(found["refused"]),
    )


def _use(workspace: Workspace, times: int) -> Counter[str]:
    """Read, and now and then write, list and delete, through the path that is being swapped."""
    found: Counter[str] = Counter()
    for count in range(times):
        try:
            if count % 20 == 1:
                workspace.write_bytes("sub/new", b"new")
            elif count % 20 == 2:
                workspace.delete("sub/new")
            elif count % 20 == 3:
                found["leaked"] += sum(it.size == len(_SECRET) for it in workspace.walk())
            else:
                found["leaked" if workspace.read_bytes("sub/file") == _SECRET else "read"] += 1
        except WorkspaceError as error:
            found["refused" if error.problem in ("refused", "not_a_file") else error.problem] += 1
    return found
