"""Each table of PostgreSQL has a concern."""

import re

from sidecall.storage.migrate import read_migrations
from sidecall.storage.postgres.outage import FILES, HISTORY, LEDGER


def test_each_table_that_is_made_has_one_concern() -> None:
    """Else nobody would find it missing."""
    script = "\n".join(migration.script for migration in read_migrations("postgres"))
    made = set(re.findall(r"^CREATE (?:UNLOGGED )?TABLE (\w+)", script, re.MULTILINE))
    dropped = set(re.findall(r"^DROP TABLE (\w+)", script, re.MULTILINE))

    assert sorted([*LEDGER.tables, *HISTORY.tables, *FILES.tables]) == sorted(made - dropped)
