"""The roles of SQLite files; each role has its own files."""

import socket
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DatabaseRole:
    """The role of a file: its migrations, and its text in the log when it cannot be written.

    `sign` is a table that no other kind of file has, from its first version on. `is_apart` says that a separate process
    writes it, so that its delays do not affect the server. `is_alone` says that no other code in this process opens the
    file, as in a server; `is_seldom` that its writes are seldom awaited, so that a full disk must be looked for.
    `writer` connects to the process that writes it for several workers, if there is one; `ending` is appended to the
    name of the ledger's file.
    """

    series: str
    sign: str
    name: str
    loss: str
    is_apart: bool
    is_alone: bool = False
    is_seldom: bool = True
    writer: socket.socket | None = None
    ending: str = ""


LEDGER = DatabaseRole(
    "sqlite", "approvals", "the ledger", "calls that have to be remembered get 503", is_apart=True, is_seldom=False
)
HISTORY = DatabaseRole(
    "sqlite_history",
    "history_blocks",
    "the history",
    "calls that end are kept in memory as far as there is room",
    is_apart=True,
    ending=".history",
)
FILES = DatabaseRole(
    "sqlite_files",
    "vector_stores",
    "the files",
    "files can be neither sent nor searched",
    is_apart=False,
    ending=".files",
)
PURPOSES = (LEDGER, HISTORY, FILES)
