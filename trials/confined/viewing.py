"""Show a few lines of a large file without holding or reading the rest."""

import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from sidecall.features.file_tools.editing.editor import view_path
from sidecall.features.workspaces.workspace import Workspace
from trials.finding import Finding

_BYTES = 10 * 1024 * 1024
_LINE = b"a line of a large file, as long as many\n"
_TIMES = 9
_MOST_SECONDS, _MOST_MEGABYTES = 0.05, 2.0


def run() -> Iterator[Finding]:
    """View lines at the beginning, in the middle and at the end."""
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "large.txt").write_bytes(_LINE * (_BYTES // len(_LINE)))
        done = subprocess.run([sys.executable, "-m", __name__, place], capture_output=True, text=True, check=True)
    seconds, megabytes = map(float, done.stdout.split())
    yield Finding(
        "large files",
        "`view_range` of a file of 10 MB, at its beginning, middle and end",
        f"< {_MOST_SECONDS * 1000:.0f} ms and < {_MOST_MEGABYTES:.0f} MB more memory",
        f"{seconds * 1000:.1f} ms at most, {megabytes:.2f} MB more",
        holds=megabytes < _MOST_MEGABYTES,
        in_time=seconds < _MOST_SECONDS,
    )


def _view(place: str) -> tuple[float, float]:
    """Return the most seconds that a view took, of the medians of each place, and the megabytes that all took."""
    lines = _BYTES // len(_LINE)
    slowest = 0.0
    with Workspace(Path(place)) as workspace:
        (Path(place) / "small.txt").write_bytes(_LINE)
        view_path(workspace, "small.txt", [1, 1])
        forget_peak()
        before = read_peak()
        for first in (1, lines // 2, lines - 10):
            taken = []
            for _ in range(_TIMES):
                begun = time.perf_counter()
                view_path(workspace, "large.txt", [first, first + 10])
                taken.append(time.perf_counter() - begun)
            slowest = max(slowest, sorted(taken)[_TIMES // 2])
    return slowest, (read_peak() - before) / 1024


def forget_peak() -> None:
    """Reset the peak of this program's memory."""
    Path("/proc/self/clear_refs").write_text("5")


def read_peak() -> int:
    """Return the most kilobytes that this program has had; what `getrusage` says begins with its parent's."""
    found = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())
    assert found
    return int(found[1])


if __name__ == "__main__":
    print(*_view(sys.argv[1]))
