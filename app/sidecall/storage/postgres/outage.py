"""The outage of a PostgreSQL database, from its detection until a test of it succeeds."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from contextvars import Context
from dataclasses import dataclass, field, replace

from sidecall.storage.feature_tables import FeatureTables, find_tables, list_steps
from sidecall.storage.migrate import Migration
from sidecall.storage.outage import OutageLog


@dataclass(frozen=True, slots=True)
class DatabaseRole:
    """Some tables of one database, used together over connections of their own."""

    name: str
    loss: str
    tables: tuple[str, ...]
    # Features of other packages that have tables in it, and the migrations of all that have.
    others: tuple[FeatureTables, ...] = ()
    feature_steps: Mapping[str, tuple[Migration, ...]] = field(default_factory=dict)


LEDGER = DatabaseRole(
    "the ledger",
    "calls that have to be remembered get 503",
    (
        *("approval_rules", "approvals", "audit_entries", "call_rates", "caller_secrets"),
        *("call_progress", "calls", "contents", "items", "servers"),
    ),
)

HISTORY = DatabaseRole(
    "the history",
    "calls that end are kept in memory as far as there is room",
    ("history_blocks", "history_conversations", "history_counts", "history_marks"),
)

FILES = DatabaseRole(
    "the files",
    "files can be neither sent nor searched",
    ("file_attributes", "file_pieces", "file_words", "files", "vector_store_files", "vector_stores"),
)


def with_features(role: DatabaseRole) -> DatabaseRole:
    """Return a role with the tables of features, which all are the ledger's."""
    if role.name != LEDGER.name:
        return role
    steps = list_steps("postgres", role.others)
    names = tuple(name for one in steps.values() for name in find_tables(one))
    return replace(role, tables=(*role.tables, *names), feature_steps=steps)


# Seconds before the first trial, and at most between two of them.
_SOON = 0.1

_SELDOM = 1.0
# An outage that begins so many seconds after the one before ended is the same one, of which the trial has seen nothing:
# it is tried less and less often, to keep the log short.
_STEADY = 10.0

_LONG = 8.0
# The same where the database says what no trial has found, as on a full disk, of which a trial takes nothing.
_STEADY_UNFOUND = 60.0

_LATER = 2.0


class Outage:
    """The outage state that all users of a database share; the log gets its beginning, each new reason, and its end.

    `find_fault` tests the database and returns the fault, or None. `when_begun` is called at each beginning.
    """

    def __init__(
        self,
        concern: DatabaseRole,
        address: str,
        find_fault: Callable[[], Awaitable[str | None]],
        when_begun: Callable[[], None],
    ) -> None:
        self._name = f"PostgreSQL at {address}"
        self._log = OutageLog(concern.name, "used", concern.loss, self._name)
        self._find_fault = find_fault
        self._when_begun = when_begun
        self._is_open = False
        self._pause = _SOON
        self._ended_at = 0.0
        self._is_found = True
        self._recovering: asyncio.Task[None] | None = None
        self._doubting: asyncio.Task[bool] | None = None
        self.fault: str | None = None
        self.trouble: str | None = "It is not open."
        self.unavailable_since: float | None = None  # In seconds since 1970.

    def open(self) -> None:
        """Begin without an outage."""
        self._is_open, self.trouble = True, None

    async def close(self) -> None:
        """Stop testing."""
        self._is_open = False
        tasks = [task for task in (self._recovering, self._doubting) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def begin(self, fault: str, *, is_found: bool = True) -> None:
        """Begin an outage, and test the database until it is available again.

        Args:
            fault: Why.
            is_found: Whether a trial finds that out, as far as it is known.
        """
        if not self._is_open:
            return
        is_new = self.fault is None
        self._say(fault)
        if is_new:
            self.unavailable_since = time.time()
            self._pause, self._is_found = self._choose_pause(), is_found
            self._recovering = asyncio.get_running_loop().create_task(self._recover(), context=Context())
            self._when_begun()

    def doubt(self) -> None:
        """Test the database: one statement has failed, and maybe all do."""
        if self._is_open and self.trouble is None and (self._doubting is None or self._doubting.done()):
            self._doubting = asyncio.get_running_loop().create_task(self.look(), context=Context())

    async def look(self) -> bool:
        """Test the database, and return whether it is unavailable."""
        if self.trouble is None and (fault := await self._find_fault()) is not None:
            self.begin(fault)
        return self.trouble is not None

    def _choose_pause(self) -> float:
        """Return the minimum seconds of an outage that begins now."""
        steady, soonest = (_STEADY, _SOON) if self._is_found else (_STEADY_UNFOUND, _LATER)
        if time.monotonic() >= self._ended_at + steady:
            return _SOON
        return min(max(soonest, 2 * self._pause), _LONG)

    def _say(self, fault: str) -> None:
        self.fault, self.trouble = fault, f"{self._name}: {fault}"
        # What goes wrong belongs to no request, though one finds it out.
        Context().run(self._log.tell, self.trouble)

    async def _recover(self) -> None:
        pause = self._pause
        while True:
            # Many servers do not come back at the same moment.
            await asyncio.sleep(pause * random.uniform(0.5, 1.0))  # noqa: S311
            pause = max(self._pause, min(2 * pause, _SELDOM))
            fault = await self._find_fault()
            if fault is None:
                break
            self._is_found = True
            self._say(fault)
        self.fault = self.trouble = self.unavailable_since = None
        self._ended_at = time.monotonic()
        self._log.run_on_end()
