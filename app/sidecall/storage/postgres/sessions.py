"""Whether connections to PostgreSQL keep their sessions, or a pooler gives them another for each transaction."""

import asyncpg

from sidecall.storage.postgres.link import Link
from sidecall.storage.postgres.words import POOLED, DatabaseUnfit

_NAME = "SELECT pg_backend_pid()"
# A pooler that chooses at random may give the same session twice.
_TURNS = 3


async def require_sessions(one: Link, other: Link, patience: float) -> None:
    """Look whether two connections have sessions of their own, which stay theirs after a transaction.

    Settings, locks and prepared statements belong to a session: where another's were used, anything could happen.

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
