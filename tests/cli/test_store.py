"""`sidecall serve` remembers in a file where it can, and says where it cannot."""

import logging
from pathlib import Path

import pytest

from sidecall.cli.store import choose_store
from sidecall.core.overload import StoreUnfit
from sidecall.settings import Settings
from tests.ledger.sql.disks import disk, fill_up

__all__ = ["disk"]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Start in a folder with nothing in it."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_by_default_it_is_a_file_that_no_repository_holds(here: Path) -> None:
    """It can be opened again, however often it was."""
    stores = [choose_store(Settings()).store for _ in range(2)]

    assert stores == ["sqlite:///.sidecall/ledger.db"] * 2
    assert (here / ".sidecall" / ".gitignore").read_text() == "*\n"
    assert (here / ".sidecall").stat().st_mode & 0o777 == 0o700


def _block_folder(here: Path) -> None:
    (here / ".sidecall").write_text("not a folder")


def _block_file(here: Path) -> None:
    (here / ".sidecall" / "ledger.db").mkdir(parents=True)


@pytest.mark.parametrize(
    ("block", "workers", "told"),
    [
        (_block_folder, 1, ".sidecall cannot be written (File exists)"),
        (_block_file, 1, "ledger.db cannot be opened: Is a directory"),
        (_block_folder, 2, ".sidecall cannot be written (File exists)"),
    ],
)
def test_without_a_file_it_is_memory(
    here: Path, caplog: pytest.LogCaptureFixture, block: object, workers: int, told: str
) -> None:
    """One line says so, and why."""
    assert callable(block)
    block(here)

    with caplog.at_level(logging.WARNING, "sidecall"):
        store = choose_store(Settings(workers=workers)).store

    assert store == "memory://"
    [line] = caplog.messages
    assert line.startswith("what has to be remembered is kept in memory and lost at the end: ")
    assert told in line


def test_a_file_of_another_program_is_not_passed_over(here: Path) -> None:
    """Nor is one of a newer version: what it holds would seem to be lost."""
    (here / ".sidecall").mkdir()
    (here / ".sidecall" / "ledger.db").write_text("a text" * 1000)

    with pytest.raises(StoreUnfit, match="it is not a SQLite database"):
        choose_store(Settings())


def test_a_file_that_is_named_is_used_though_its_disk_is_full(disk: Path) -> None:
    """There may be room later; a file that nobody has named is passed over."""
    fill_up(disk)
    named = f"sqlite:///{disk / 'ledger.db'}"

    assert choose_store(Settings(store=named)).store == named


@pytest.mark.parametrize(
    ("named", "used"),
    [(None, "sqlite:///.sidecall/ledger.db"), ("sqlite:///ledger.db", "sqlite:///ledger.db")],
    ids=["default", "named"],
)
def test_several_workers_share_a_file(named: str | None, used: str) -> None:
    """One process writes it for all of them."""
    assert choose_store(Settings(store=named, workers=2)).store == used


@pytest.mark.parametrize("named", [None, "sqlite:///ledger.db", "memory://"])
def test_workers_that_cannot_share_a_file_are_refused(named: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each would remember for itself, and do twice what is to be done once."""
    monkeypatch.setattr("sys.platform", "win32")

    with pytest.raises(StoreUnfit) as refused:
        choose_store(Settings(store=named, workers=2))

    assert refused.value.message == (
        "There are 2 workers, which cannot share a file on Windows: name a database that they share, "
        "SIDECALL_STORE=postgresql://user@host/database, or leave out --workers."
    )


def test_a_file_that_is_named_and_cannot_be_used_is_refused(here: Path) -> None:
    """Whoever named it counts on it."""
    with pytest.raises(StoreUnfit, match="Make the folder"):
        choose_store(Settings(store="sqlite:///no/such/ledger.db"))


def test_memory_may_be_wanted(here: Path) -> None:
    """Then nothing is written."""
    assert choose_store(Settings(store="memory://", workers=3)).store == "memory://"
    assert list(here.iterdir()) == []
