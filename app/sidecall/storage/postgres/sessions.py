"""Check that connections to PostgreSQL keep their sessions, as behind a transaction pooler they do not."""

import asyncpg

from sidecall.storage.postgres.link import Link
from sidecall.storage.postgres.words import POOLED, DatabaseUnfit

_NAME = "SELECT pg_backend_pid()"
# A pooler that chooses at random may give the same session twice.
_TURNS = 3


async def require_sessions(one: Link, other: Link, patience: float) -> None:
    """Check that two connections each keep their session after a transaction.

    Settings, locks and prepared statements belong to a session, so a shared one would break everything.

    Raises:
        DatabaseUnfit: They have not.
    """
    # They do not run out of time at the same moment.
    await one.use(lambda first: other.use(lambda second: _compare(first, second), patience), 2 * patience)


async def _compare(first: asyncpg.Connection, second: asyncpg.Connection) -> None:
    for _ in range(_TURNS):
        name = await first.fetchval(_NAME)
        async with second.transaction():  # The session that the first had is free for the second.
            if await second.fetchval(_NAME) == name or await first.fetchval(_NAME) != name:
                raise DatabaseUnfit(POOLED)
