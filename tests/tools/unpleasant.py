"""A workspace with all that is unpleasant in it, and tools that are called as functions."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sidecall import ToolException, Workspace
from sidecall.features.workspaces.limits import WorkspaceLimits
from tests.tools import shipped

_MODULE = shipped.load("files")
#: A tool, its arguments, and what it answers, or raises.
Step = tuple[str, dict[str, Any], str]


@contextmanager
def unpleasant_workspace(place: Path) -> Iterator[Workspace]:
    """Make one in a folder, beside a file that nobody may reach."""
    inside, outside = place / "inside", place / "outside"
    (inside / "dir").mkdir(parents=True)
    outside.mkdir()
    (outside / "secret").write_text("canary")
    (inside / "a.txt").write_text("one\ntwo\n")
    (inside / "script.sh").write_text("echo 1\n")
    (inside / "script.sh").chmod(0o755)
    (inside / "binary").write_bytes(b"a\0b")
    (inside / "latin").write_bytes(b"h\xe9")
    (inside / "loop").symlink_to("loop")
    (inside / "dir" / "up").symlink_to("..")
    (inside / "link").symlink_to(outside / "secret")
    (inside / "nowhere").symlink_to(outside / "new")
    os.link(outside / "secret", inside / "second-name")
    os.mkfifo(inside / "pipe")
    with Workspace(inside, WorkspaceLimits(file_bytes=2_000_000, total_bytes=4_000_000)) as made:
        yield made
    assert sorted(it.name for it in outside.iterdir()) == ["secret"]


def answer(workspace: Workspace, name: str, **args: Any) -> str:
    """Call a tool, and return its answer or what it refuses with."""
    try:
        said = str(getattr(_MODULE, name)(**args, workspace=workspace))
    except ToolException as error:
        said = f"refused: {error.message}"
    assert "canary" not in said
    assert str(workspace.directory) not in said
    return said
