"""Choose the default store for `sidecall serve`."""

import logging
import os
import stat
import sys
from pathlib import Path

from sidecall.features.ledger.open_ledger import IN_MEMORY, sqlite_path
from sidecall.kernel.core.overload import StoreUnfit
from sidecall.settings import Settings
from sidecall.storage.sqlite.database import try_file
from sidecall.storage.sqlite.file import StoreOutOfReach, StoreTaken, StoreWithoutRoom

logger = logging.getLogger("sidecall")

_FOLDER = Path(".sidecall")
_LEDGER = _FOLDER / "ledger.db"
_DEFAULT = f"sqlite:///{_LEDGER}"


def choose_store(settings: Settings) -> Settings:
    """Return the settings with a store; an unusable one stops the start.

    If none is configured and the default one cannot be used, the store is in memory; log, readiness and status say so.
    An existing ledger is never ignored: calls that it knows to have run would run again.

    Raises:
        StoreUnfit: The store cannot be used by this program, or not by several workers.
    """
    if settings.workers > 1:
        _require_sockets(settings)
    if settings.store is not None:
        try:
            _require_fit(settings.store)
        except StoreWithoutRoom:
            return settings  # It is used as soon as there is room; until then what needs it is refused.
        return settings
    try:
        _make_folder()
        _require_fit(_DEFAULT)
    except StoreTaken as error:  # Another server has it, and keeps what is there.
        return _forgetful(settings, error.message)
    except StoreOutOfReach as error:
        if isinstance(error, StoreWithoutRoom) and _is_there():
            return settings.model_copy(
                update={"store": _DEFAULT}
            )  # Used as soon as there is room, as one that is named.
        return _forget_unless_there(settings, error.message)
    except OSError as error:
        return _forget_unless_there(settings, f"{_FOLDER.absolute()} cannot be written ({error.strerror})")
    return settings.model_copy(update={"store": _DEFAULT})


def _forget_unless_there(settings: Settings, reason: str) -> Settings:
    """Fall back to memory, unless a ledger exists there or that cannot be determined."""
    if not _is_there():
        return _forgetful(settings, reason)
    raise StoreUnfit(
        f"{reason} A ledger lies there, and what it remembers would be done again: give this program the right to use "
        f"it, move it away, or name another store with SIDECALL_STORE; {IN_MEMORY} forgets everything at the end."
    )


def _is_there() -> bool:
    """Return whether a ledger exists there, or may exist in a place that is not readable."""
    try:
        return stat.S_ISREG(os.stat(_LEDGER).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True


def _require_sockets(settings: Settings) -> None:
    """Refuse workers that cannot share a file: they need socket passing, which Windows lacks."""
    url = settings.store or _DEFAULT
    if sys.platform == "win32" and (url == IN_MEMORY or sqlite_path(url) is not None):
        raise StoreUnfit(
            f"There are {settings.workers} workers, which cannot share a file on Windows: name a database that they "
            "share, SIDECALL_STORE=postgresql://user@host/database, or leave out --workers."
        )


def _require_fit(url: str) -> None:
    path = sqlite_path(url)
    if path is not None:
        try_file(path)


def _forgetful(settings: Settings, reason: str) -> Settings:
    logger.warning("what has to be remembered is kept in memory and lost at the end: %s", reason)
    return settings.forgetting(IN_MEMORY, reason)


def _make_folder() -> None:
    """Make the default folder, excluded from version control."""
    _FOLDER.mkdir(mode=0o700, exist_ok=True)
    ignored = _FOLDER / ".gitignore"
    if not ignored.exists():
        ignored.write_text("*\n")
