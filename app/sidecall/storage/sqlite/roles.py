"""What a SQLite file is for; each purpose has files of its own."""

import socket
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DatabaseRole:
    """What a file is for: the migrations that make its tables, and what the log says when it cannot be written.

    `sign` is a table that no other kind of file has, from its first version on. `is_apart` says that a process of
    its own writes it: what happens to that, or takes long there, is no matter of the server's other work. `is_alone`
    says that nobody else in this process opens the file, as in one that is a server's; `is_seldom` that what is written
    is not waited for, or seldom, so that a full disk has to be looked for. `writer` leads to the process that
    writes it for several, where one does; `ending` is what the name of the file has beyond that of the ledger's.
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
