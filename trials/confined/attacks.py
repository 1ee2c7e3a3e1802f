"""Try every path that leads out of a workspace with everything that a path is for, and time each refusal."""

import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from sidecall.features.workspaces.paths import WorkspaceError
from sidecall.features.workspaces.workspace import Workspace
from tests.features.workspaces.attacks import PLANTED, TEXTS, USES
from tests.features.workspaces.conftest import SECRET
from trials.finding import Finding

_TIMES = 9
_MOST_SECONDS = 0.001


def run() -> Iterator[Finding]:
    """Try texts that are no paths, and what another process may have planted."""
    slowest, reraise = 0.0, 0
    attacks = [(path, None) for path in TEXTS] + list(PLANTED.values())
    for path, plant in attacks:
        with tempfile.TemporaryDirectory() as made:
            place = Path(made)
            outside, inside = place / "outside", place / "inside"
            outside.mkdir()
            inside.mkdir()
            (outside / "secret").write_bytes(SECRET)
            if plant is not None:
                plant(inside / "x", outside)
            with Workspace(inside) as workspace:
                for use in USES.values():
                    seconds, is_refused = _time(use, workspace, path)
                    slowest, reraise = max(slowest, seconds), reraise + (not is_refused)
            reraise += os.listdir(outside) != ["secret"] or (outside / "secret").read_bytes() != SECRET
    yield Finding(
        "paths",
        f"{len(attacks)} attacks by paths, links and special files, each with {len(USES)} uses",
        "all are refused, each within 1 ms",
        f"{reraise} let through; the slowest is refused after {slowest * 1000:.2f} ms (median of {_TIMES})",
        holds=not reraise,
        in_time=slowest < _MOST_SECONDS,
    )


def _time(use: Callable[[Workspace, str], object], workspace: Workspace, path: str) -> tuple[float, bool]:
    taken, is_refused = [], True
    for _ in range(_TIMES):
        begun = time.perf_counter()
        with suppress(WorkspaceError):
            is_refused = use(workspace, path) is False and is_refused  # As `is_there` says of a path through no folder.
        taken.append(time.perf_counter() - begun)
    return statistics.median(taken), is_refused
