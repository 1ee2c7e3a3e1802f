"""Workspaces whose time is over are removed while a server runs, as soon as that can be."""

import asyncio
import logging
from pathlib import Path

import pytest

from sidecall.features.workspaces import workspaces as room
from sidecall.features.workspaces.workspaces import Workspaces, sweeping


class Twice(logging.Filter):
    """Notes when something was said a second time."""

    def __init__(self, told: asyncio.Event) -> None:
        super().__init__()
        self._told = told
        self._count = 0

    def filter(self, _record: logging.LogRecord) -> bool:
        """Let all pass."""
        self._count += 1
        if self._count == 2:
            self._told.set()
        return True


async def test_a_folder_that_cannot_be_looked_at_is_looked_at_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the server ends without a word about it."""
    monkeypatch.setattr(room, "_EVERY", 0.01)
    caplog.set_level(logging.WARNING)
    # The tests' user may look into every folder, but nobody into one of such a name.
    places = Workspaces(tmp_path / ("x" * 300))

    told = asyncio.Event()
    monkeypatch.setattr(logging.getLogger("sidecall"), "filters", [Twice(told)])

    async with sweeping(places):
        await told.wait()

    assert caplog.records[0].getMessage().startswith("workspaces cannot be removed: [Errno 36] File name too long")
