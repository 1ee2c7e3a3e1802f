"""A workspace with something beside it that nobody may reach."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sidecall.features.workspaces import workspace as room
from sidecall.features.workspaces.paths import Opener, choose_opener, open_stepwise
from sidecall.features.workspaces.workspace import Workspace

#: What lies outside, and must be in no answer.
SECRET = b"canary-outside"


@pytest.fixture(params=["as chosen", "stepwise"])
def opener(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Opener:
    """Open files as this kernel does best, and as older ones have to."""
    chosen = choose_opener() if request.param == "as chosen" else open_stepwise
    monkeypatch.setattr(room, "choose_opener", lambda: chosen)
    return chosen


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """Make a folder beside the workspace with a file in it."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret").write_bytes(SECRET)
    return folder


@pytest.fixture
def workspace(tmp_path: Path, outside: Path, opener: Opener) -> Iterator[Workspace]:
    """Make a workspace."""
    folder = tmp_path / "inside"
    folder.mkdir()
    with Workspace(folder) as made:
        yield made
