"""A process writes each file that workers share, and what they would keep in memory is in files, too."""

import tempfile
from pathlib import Path

import pytest

from sidecall.cli.workers import sharing_files
from sidecall.kernel.core.overload import StoreUnfit
from sidecall.settings import Settings


@pytest.mark.parametrize(
    ("settings", "series"),
    [
        ({}, ["sqlite", "sqlite_history"]),
        ({"history": "off"}, ["sqlite"]),
        ({"toolkits": ["file_search"]}, ["sqlite", "sqlite_files", "sqlite_history"]),
        ({"store": "postgresql://ada@host/db"}, []),
    ],
    ids=["default", "without history", "with files", "a database"],
)
def test_there_is_a_writer_for_each_file_that_the_settings_want(
    tmp_path: Path, settings: dict[str, object], series: list[str]
) -> None:
    """A database needs none."""
    named = {"store": f"sqlite:///{tmp_path}/ledger.db", "workers": 2, **settings}
    with sharing_files(Settings(**named)) as (shared, writers):  # type: ignore[arg-type]
        assert sorted(writers) == series
        assert shared.store == named["store"]


def test_what_would_be_in_memory_is_in_a_folder_that_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No worker sees the memory of another."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with sharing_files(Settings(store="memory://", workers=2)) as (shared, writers):
        [folder] = tmp_path.iterdir()
        assert shared.store == f"sqlite:///{folder}/ledger.db"
        assert folder.stat().st_mode & 0o777 == 0o700
        assert sorted(writers) == ["sqlite", "sqlite_history"]

    assert list(tmp_path.iterdir()) == []


def test_without_any_place_workers_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each would remember for itself, and do twice what is to be done once."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))

    with (
        pytest.raises(StoreUnfit) as refused,
        sharing_files(Settings(store="memory://", workers=2)),
    ):
        pass

    assert refused.value.message == (
        "Several workers share what is remembered in a file, and none can be made in a folder for temporary files "
        "(No such file or directory): name a store in SIDECALL_STORE, set TMPDIR to a folder that can be written, or "
        "leave out --workers."
    )
