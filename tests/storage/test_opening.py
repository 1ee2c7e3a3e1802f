"""A setting names a ledger, and what is no name is told how to write one."""

import sys
from pathlib import Path

import pytest

from sidecall.features.ledger.ledger import LedgerBounds
from sidecall.features.ledger.open_ledger import open_ledger, sqlite_path
from sidecall.kernel.core.context import ANONYMOUS
from sidecall.kernel.core.overload import StoreUnfit
from sidecall.kernel.pipeline.format import refuse
from sidecall.kernel.ports.contents import TEXT


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("sqlite:///ledger.db", Path("ledger.db")),
        ("sqlite:///.sidecall/ledger.db", Path(".sidecall/ledger.db")),
        ("sqlite:////var/lib/ledger.db", Path("/var/lib/ledger.db")),
        ("memory://", None),
    ],
)
async def test_a_file_is_named_by_its_path(url: str, path: Path | None) -> None:
    """Three slashes for a path from here, four for an absolute one."""
    assert sqlite_path(url) == path


@pytest.mark.parametrize(
    ("url", "told"),
    [
        (
            "ledger.db",
            "SIDECALL_STORE names no kind of store; write sqlite:///ledger.db for a file where the server is started, "
            "sqlite:////var/lib/sidecall/ledger.db for one by its absolute path, "
            "postgresql://user:password@host:5432/database, or memory://.",
        ),
        ("mysql://host/name", "SIDECALL_STORE names no kind of store"),
        ("memory://ledger", "what is kept in memory has no name, write memory://."),
        ("sqlite://ledger.db", "which names no file; write sqlite:///ledger.db"),
        ("sqlite:///", "which names no file"),
        ("sqlite:///data/", "which names no file"),
        ("sqlite:///ledger.db?mode=ro", "which names no file"),
        ("sqlite:///:memory:", "SIDECALL_STORE is sqlite:///:memory:; what is kept in memory is memory://."),
        (
            "sqlite:///~/ledger.db",
            "nothing puts the home folder in the place of ~; write its path, such as sqlite:////",
        ),
        (
            "sqlite:////~/ledger.db",
            "nothing puts the home folder in the place of ~; write its path, such as sqlite:////",
        ),
        ("postgresql://ada:s3/cret@host/db", "no address of a PostgreSQL database: write postgresql://user:password@"),
    ],
)
async def test_what_names_no_store_is_refused(url: str, told: str) -> None:
    """Passwords that may stand in it are not repeated."""
    with pytest.raises(StoreUnfit) as refused:
        open_ledger(url, LedgerBounds(), refuse)

    assert told in refused.value.message


async def test_what_is_in_memory_is_always_ready() -> None:
    """Without being opened."""
    ledger = open_ledger("memory://", LedgerBounds(), refuse)
    await ledger.open()
    await ledger.close()

    assert ledger.trouble is None
    assert await ledger.contents.keep("large", ANONYMOUS, TEXT) is not None


async def test_postgresql_needs_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which is told before anything is connected."""
    monkeypatch.delitem(sys.modules, "sidecall.storage.postgres.database", raising=False)
    for name in [name for name in sys.modules if name.startswith("sidecall.storage.postgres.database")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "asyncpg", None)

    with pytest.raises(StoreUnfit, match=r"needs an extra: pip install 'sidecall\[postgres\]'"):
        open_ledger("postgresql://ada@host/db", LedgerBounds(), refuse)


@pytest.mark.parametrize("scheme", ["postgresql", "postgres"])
async def test_a_postgresql_database_keeps_everything(emptied_url: str, scheme: str) -> None:
    """Also what tools put into their store; another server finds it."""
    url = emptied_url.replace("postgresql", scheme, 1)
    for found in (None, 1):
        ledger = open_ledger(url, LedgerBounds(), refuse)
        await ledger.open()
        item = await ledger.items.get("acme", ("notes",), "a")
        await ledger.items.put("acme", ("notes",), "a", 1)
        await ledger.close()

        assert (item and item.value) == found
        assert ledger.trouble is None
