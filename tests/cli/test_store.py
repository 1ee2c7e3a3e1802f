"""`sidecall serve` remembers in a file where it can, and says where it cannot."""

import asyncio
import logging
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sidecall.cli.default_store import choose_store
from sidecall.kernel.core.overload import StoreUnfit
from sidecall.settings import Settings
from sidecall.storage.sqlite import file_lock
from sidecall.storage.sqlite.database import SqliteDatabase
from tests.storage.sql.disks import disk, fill_up

__all__ = ["disk"]


_NOBODY = 65534


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


def _take_rights(here: Path) -> None:
    (here / ".sidecall" / "ledger.db").chmod(0)


def _take_rights_of_folder(here: Path) -> None:
    (here / ".sidecall").chmod(0)


def _make_read_only(here: Path) -> None:
    (here / ".sidecall" / "ledger.db").chmod(0o400)


@pytest.fixture
def open_folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Start in a folder that another user reaches, too."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        monkeypatch.chdir(folder)
        yield Path(folder)


@contextmanager
def as_another(folder: Path) -> Iterator[None]:
    """Be a user whose rights count, and whose the files of a folder are."""
    if os.geteuid():
        yield
        return
    for place in (folder, *folder.rglob("*")):
        os.chown(place, _NOBODY, _NOBODY)
    os.seteuid(_NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.parametrize("block", [_take_rights, _take_rights_of_folder, _make_read_only])
def test_a_ledger_that_lies_there_is_not_passed_over(open_folder: Path, block: Callable[[Path], None]) -> None:
    """What it knows to have run would run again."""
    choose_store(Settings())
    block(open_folder)

    with as_another(open_folder), pytest.raises(StoreUnfit) as refused:
        choose_store(Settings())

    assert "A ledger lies there" in refused.value.message
    assert "SIDECALL_STORE" in refused.value.message


def test_where_none_lies_and_none_can_be_made_it_is_memory(open_folder: Path) -> None:
    """Nothing is lost by that but what comes."""
    choose_store(Settings())  # So that what it takes is loaded.
    for place in (open_folder / ".sidecall").iterdir():
        place.unlink()
    (open_folder / ".sidecall").rmdir()
    with as_another(open_folder):
        open_folder.chmod(0o500)
        chosen = choose_store(Settings())

    assert chosen.store == "memory://"
    assert "cannot be written (Permission denied)" in str(chosen.forgets)


def test_what_is_forgotten_is_said(here: Path) -> None:
    """For readiness and status; nothing is said where nobody asked for more."""
    _block_folder(here)

    forgets = choose_store(Settings()).forgets
    assert forgets is not None
    assert forgets.endswith(".sidecall cannot be written (File exists)")
    assert choose_store(Settings(workers=2)).forgets == forgets
    assert choose_store(Settings(store="memory://")).forgets is None


def test_another_server_has_it(here: Path) -> None:
    """Which remembers; this one says that it does not."""
    choose_store(Settings())
    with _holding(here):
        chosen = choose_store(Settings())

    assert chosen.store == "memory://"
    assert "used by another process" in str(chosen.forgets)


def test_what_a_killed_server_has_left_behind_has_it(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody serves what is remembered there any more, and soon nobody holds it: to forget it would do it again."""
    monkeypatch.setattr(file_lock, "_PATIENCE", 0.0)
    ended = os.posix_spawn("/bin/true", ["true"], {})
    os.waitpid(ended, 0)
    with _holding(here):
        (here / ".sidecall" / "ledger.db.lock").write_text(f"{ended}\n")
        with pytest.raises(StoreUnfit, match=rf"is still used by what a process \({ended}\) has left behind"):
            choose_store(Settings())

    assert choose_store(Settings()).forgets is None


@contextmanager
def _holding(here: Path) -> Iterator[None]:
    """Have the default store, as a server does."""
    database = SqliteDatabase(here / ".sidecall" / "ledger.db")
    with asyncio.Runner() as runner:
        runner.run(database.open())
        yield
        runner.run(database.close())


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
    """The user who named it counts on it."""
    with pytest.raises(StoreUnfit, match="Make the folder"):
        choose_store(Settings(store="sqlite:///no/such/ledger.db"))


def test_memory_may_be_wanted(here: Path) -> None:
    """Then nothing is written."""
    assert choose_store(Settings(store="memory://", workers=3)).store == "memory://"
    assert list(here.iterdir()) == []
